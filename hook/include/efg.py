"""Regions and attributes in the record that efg makes of a program: what the program calls its
phases, and values that it says about them.

    import efg

    with efg.region("assembly"):
        efg.attribute("step", step)
        ...

    @efg.region("solve")
    def solve(): ...

The program needs nothing but this file. Where efg does not record it, each of these does next to
nothing. Regions nest, and belong to the thread. They may also be begun and ended by calls, with their
name, which is then checked when the record is read, or without one:

    efg.region_begin("assembly")
    efg.region_end()

Call paths of a record do not have Python's functions. On request their calls are regions: those of the
functions of the program itself, or of modules and packages that are named, in this thread and in those
that it begins later. Each call of such a function then takes about two microseconds more.

    efg.functions()
    efg.functions("__main__", "solvers")

An attribute belongs to the innermost region that is open. Its value is an integer, a float or a string;
of anything else it is the text, str(value).
"""

import ctypes
import functools
import operator
import sys
import threading
import warnings

__all__ = ["attribute", "functions", "region", "region_begin", "region_end"]

_size, _text = ctypes.c_size_t, ctypes.c_char_p


def _find(name, *types):
    """The hook's function of a name; None if the program is not recorded."""
    try:
        # The lock of the interpreter is kept: these functions do not wait.
        function = getattr(ctypes.PyDLL(None), "efg_hook_" + name)
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes, function.restype = types, None
    return function


_begin = _find("region_begin", _text, _size)
_end = _find("region_end", _text, _size)
_int = _find("attribute_int", _text, _size, ctypes.c_int64)
_double = _find("attribute_double", _text, _size, ctypes.c_double)
_string = _find("attribute_string", _text, _size, _text, _size)

_recorded = None not in (_begin, _end, _int, _double, _string)


def _bytes(text):
    return str(text).encode("utf-8", "replace")


def _integer(value):
    """The value as an integer of 64 bits; None if it is none."""
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if -(1 << 63) <= number < 1 << 63 else None


def region_begin(name):
    """Begins a region."""
    if _recorded:
        name = _bytes(name)
        _begin(name, len(name))


def region_end(name=None):
    """Ends the innermost region, or that of a name."""
    if _recorded:
        if name is None:
            _end(None, 0)
        else:
            name = _bytes(name)
            _end(name, len(name))


def attribute(name, value):
    """Says a value about the innermost region."""
    if not _recorded:
        return
    name, number = _bytes(name), _integer(value)
    if number is not None:
        _int(name, len(name), number)
    elif isinstance(value, float):
        _double(name, len(name), value)
    else:
        text = _float_or_text(value)
        if isinstance(text, float):
            _double(name, len(name), text)
        else:
            _string(name, len(name), text, len(text))


def _float_or_text(value):
    """A value that is like a float, as those of NumPy, as one; others as text."""
    if not isinstance(value, (str, bytes)) and hasattr(value, "__float__") and not hasattr(value, "__index__"):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    return value if isinstance(value, bytes) else _bytes(value)


class region:
    """A region for as long as a with statement or, as a decorator, a function runs."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = _bytes(name) if _recorded else name

    def __enter__(self):
        if _recorded:
            _begin(self._name, len(self._name))
        return self

    def __exit__(self, *error):
        if _recorded:
            _end(self._name, len(self._name))

    def __call__(self, function):
        if not _recorded:
            return function

        @functools.wraps(function)
        def inside(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return inside


def functions(*modules):
    """Makes regions of the calls of Python functions: of modules and packages that are named, by default
    of the program itself. What runs already is none. The parts of a function that have no name of their
    own, as comprehensions, belong to it. It takes the place of a profiler (sys.setprofile)."""
    if not _recorded:
        return
    if sys.getprofile() is not None:
        warnings.warn("efg.functions: another profiler is active: functions are no regions", stacklevel=2)
        return
    follower = _Follower(modules or ("__main__",))
    threading.setprofile(follower)
    sys.setprofile(follower)


class _Follower:
    """Begins and ends regions as functions are called and return."""

    def __init__(self, modules):
        self._modules = modules
        self._known = {}  # names of functions, None: no region, by the numbers of their codes, which are kept
        self._thread = threading.local()

    def __call__(self, frame, event, _):
        if event == "call":
            code = frame.f_code
            known = self._known.get(id(code))
            if known is None:
                known = self._known[id(code)] = code, self._name(frame)
            if known[1] is not None:
                self._open().append((frame, known[1]))
                _begin(known[1], len(known[1]))
        elif event == "return":
            calls = self._open()
            if calls and calls[-1][0] is frame:
                name = calls.pop()[1]
                _end(name, len(name))

    def _open(self):
        """The calls of this thread that are regions, with their names."""
        try:
            return self._thread.open
        except AttributeError:
            self._thread.open = []
            return self._thread.open

    def _name(self, frame):
        module, code = frame.f_globals.get("__name__"), frame.f_code
        if code.co_name.startswith("<") or not isinstance(module, str):
            return None
        if not any(module == m or module.startswith(m + ".") for m in self._modules):
            return None
        name = getattr(code, "co_qualname", code.co_name)  # from Python 3.11 on with the class
        return _bytes(name if module == "__main__" else f"{module}.{name}")
