// Command schemas writes schemas.json: of each tool whose answer is a document, the JSON schema that the
// description of the HTTP API has for that. Run go generate.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	description = "../httpapi/openapi.yaml"
	components  = "#/components/schemas/"
	definitions = "#/$defs/"
)

// documents are the schemas of the tools' answers, by their names in the description.
var documents = map[string][]string{
	"info": {"Info"}, "report": {"Report"}, "waits": {"Waits"}, "efficiency": {"Efficiency"}, "diff": {"RunsDiff", "Pair"}, "where": {"JobState"},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := os.ReadFile(description)
	if err != nil {
		return err
	}
	var api struct {
		Components struct {
			Schemas map[string]any
		}
	}
	if err := yaml.Unmarshal(text, &api); err != nil {
		return fmt.Errorf("%s: %w", description, err)
	}
	schemas := map[string]any{}
	for tool, names := range documents {
		if schemas[tool], err = schemaOf(names, api.Components.Schemas); err != nil {
			return err
		}
	}
	out, err := json.Marshal(schemas)
	if err != nil {
		return err
	}
	return os.WriteFile("schemas.json", append(out, '\n'), 0o644)
}

// schemaOf is the schema of a document that is one of these, with all that it refers to.
func schemaOf(names []string, all map[string]any) (map[string]any, error) {
	found := map[string]any{}
	for wanted := slices.Clone(names); len(wanted) > 0; wanted = wanted[1:] {
		name := wanted[0]
		if found[name] != nil {
			continue
		}
		if all[name] == nil {
			return nil, fmt.Errorf("%s: no schema %s", description, name)
		}
		found[name] = copied(all[name], func(other string) { wanted = append(wanted, other) })
	}
	schema := map[string]any{"type": "object"}
	if len(names) == 1 {
		maps.Copy(schema, found[names[0]].(map[string]any))
		delete(found, names[0])
	} else {
		var choice []any
		for _, name := range names {
			choice = append(choice, map[string]any{"$ref": definitions + name})
		}
		schema["oneOf"] = choice
	}
	if len(found) > 0 {
		schema["$defs"] = found
	}
	return schema, nil
}

// copied copies a schema with references as they are in a schema of its own, and tells which there are.
func copied(v any, refer func(name string)) any {
	switch v := v.(type) {
	case map[string]any:
		c := map[string]any{}
		for key, value := range v {
			text, isText := value.(string)
			name, isReference := strings.CutPrefix(text, components)
			if key == "$ref" && isText && isReference {
				refer(name)
				value = definitions + name
			}
			c[key] = copied(value, refer)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = copied(v[i], refer)
		}
		return c
	}
	return v
}
