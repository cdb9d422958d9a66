"""NKIObject: classes of the user's that kernels pass around."""

import inspect
from typing import Any


class NKIObject:
    """Base of user classes whose fields are class attributes, annotated or plain; it gives them a constructor.

    `__init__` takes the fields of all bases in order, by position or keyword; `__post_init__` runs after it.
    """

    __nki_object__ = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__init__ is object.__init__ or getattr(cls.__init__, "__nki_generated__", False):
            cls.__init__ = _constructor(cls)


def _own(cls: type) -> list[type]:
    """Returns the classes of the MRO below NKIObject."""
    return [
        base for base in cls.__mro__ if base is not object and base is not NKIObject and issubclass(base, NKIObject)
    ]


_MISSING: Any = object()


def _fields(cls: type) -> dict[str, Any]:
    """Returns field -> default, those of bases first; a default of `_MISSING` must be given."""
    fields: dict[str, Any] = {}
    for base in reversed(_own(cls)):
        for name in inspect.get_annotations(base):
            fields.setdefault(name, _MISSING)
        for name, value in base.__dict__.items():
            plain = not name.startswith("_") and not callable(value)
            if plain and not isinstance(value, property | classmethod | staticmethod):
                fields[name] = value
    return fields


def _constructor(cls: type) -> Any:
    fields = _fields(cls)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(fields):
            raise TypeError(f"{cls.__name__}() takes {len(fields)} fields, {len(args)} were given")
        given = dict(zip(fields, args, strict=False))
        for name, value in kwargs.items():
            if name not in fields or name in given:
                raise TypeError(f"{cls.__name__}() got an unexpected or repeated field '{name}'")
            given[name] = value
        for name, default in fields.items():
            value = given.get(name, default)
            if value is _MISSING:
                raise TypeError(f"{cls.__name__}() misses the field '{name}'")
            object.__setattr__(self, name, value)
        after = getattr(self, "__post_init__", None)
        if after is not None:
            after()

    __init__.__nki_generated__ = True  # pyright: ignore[reportFunctionMemberAccess]
    return __init__
