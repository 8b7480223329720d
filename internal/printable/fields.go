package printable

import "reflect"

// Fields replaces each text by Line of it, in everything that a pointer leads to: exported
// fields of structs, elements, pointed-to values.
func Fields(x any) { quote(reflect.ValueOf(x)) }

func quote(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(Line(v.String()))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			quote(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			quote(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				quote(v.Field(i))
			}
		}
	}
}
