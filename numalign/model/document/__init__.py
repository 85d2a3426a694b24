"""One description of a document: what reads it, what writes it and its JSON Schema.

A description (`Form`) is made of closures, once, when its module is imported, so that reading asks no description what
to do. A reader raises the first `FieldError` it meets; its path grows on the way out, so what is right costs no path.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from numalign.model.path import FieldError, Path, shown, unfit
from numalign.values import NamedTuple

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Data = dict[str, Any]
"""A mapping that stays one, and what `as_dict` makes: values as their forms read them."""
Schema = Mapping[str, Any]
"""A JSON Schema; a part with `NAME` becomes one of its `$defs`, one with `LATER` is asked for its own."""

NAME: Final = "$name"
LATER: Final = "$later"
NEEDED: Final = object()
"""In place of a default: there is none."""
_ABSENT: Final = object()
NOTHING: Final[Schema] = {}


class Form(NamedTuple, Generic[T_co]):
    """How a value stands in a document."""

    read: Callable[[object], T_co]
    """Raises a `FieldError` with the path from the value on."""
    write: Callable[[T_co], object]
    schema: Schema


AnyForm = Form[Any]


def read(form: Form[T], data: object, path: Path = ()) -> T:
    """Read a value that stands at a path of its document.

    Raises:
        FieldError: it is not as its form says.
    """
    try:
        return form.read(data)
    except FieldError as error:
        error.path = (*path, *error.path)
        raise


def write(form: Form[T], value: T) -> Any:
    """Write a value as plain data that `read` takes."""
    return form.write(value)


def choice(*words: str | int, start: str = "") -> AnyForm:
    """Describe one of several words."""

    def take(value: object) -> object:
        if value not in words:
            raise unfit(f"{start}{', '.join(map(str, words))}", value)
        return value

    return Form(take, anything.write, {"const": words[0]} if len(words) == 1 else {"enum": list(words)})


# What holds other values


def only(data: Mapping[str, object], known: Collection[str]) -> None:
    """Refuse keys that are not known, with the nearest known one."""
    for key in data:
        if key not in known:
            listed = ", ".join(known)
            if not str(key).isprintable():
                raise FieldError((), f"unknown key {shown(key)}; allowed: {listed}")
            from numalign.model.words import nearest

            meant = nearest(str(key), known)
            text = f"unknown key; {f'hint: similar: {meant}' if meant else f'allowed: {listed}'}"
            raise FieldError((str(key),), text)


class Field(NamedTuple):
    """A key of a record; see `field`, `maybe`, `needed` and `fixed`."""

    key: str
    form: AnyForm
    default: object = _ABSENT
    null: bool = False
    to: str = ""
    missing: str = ""
    always: bool = False
    says: str = ""
    inside: tuple[Field, ...] = ()
    """Of a mapping whose keys belong to the record itself."""


def field(
    key: str,
    form: AnyForm,
    default: object = _ABSENT,
    *,
    to: str = "",
    missing: str = "",
    always: bool = False,
    says: str = "",
) -> Field:
    """Describe a key of a record; null is a value as others are.

    Args:
        key: as it is written.
        form: of its value.
        default: the value where it is not given; without one that of the class, and if it has none the key is needed.
        to: the name of the value in the class, if it is not the key with underscores.
        missing: what is wrong where the key is needed and not there; without it what its form says of null.
        always: it is written even if it has its default.
        says: what it means, for the schema.
    """
    name = to or _name_of(key)
    return Field(key, form, default, to=name, missing=missing, always=always, says=says)


def fixed(key: str, *words: str | int) -> Field:
    """Describe a key that need not be there and tells nothing: it has one of some words, if any, or whatever it has."""
    return Field(key, choice(*words), words[0], always=True) if words else Field(key, anything, None)


def needed(key: str, form: AnyForm, missing: str = "missing; it is required", *, to: str = "") -> Field:
    """Describe a key that must be there; null is the same as not given."""
    return Field(key, form, NEEDED, null=True, to=to or _name_of(key), missing=missing)


def inside(key: str, *fields: Field, null: bool = True) -> Field:
    """Describe a mapping whose keys belong to the record around it: `metadata` has the name of an object."""
    return Field(key, anything, {}, null=null, to=f"/{key}", inside=fields)


def maybe(key: str, form: AnyForm, default: object = _ABSENT, *, to: str = "", says: str = "") -> Field:
    """Describe a key that may be null, which is the same as not given; without a default of the class it is None."""
    return Field(key, form, default, null=True, to=to or _name_of(key), says=says)


def _name_of(key: str) -> str:
    """Write `l3Caches` as `l3_caches`, `offlineCPUs` as `offline_cpus`."""
    if key.islower():
        return key
    before = ""
    result = ""
    for char in key:
        result += f"_{char}" if char.isupper() and before and not before.isupper() else char
        before = char
    return result.lower()


def record(
    make: Callable[..., T],
    *fields: Field,
    wanted: str = "a mapping",
    parts: Callable[[T], Mapping[str, object]] | None = None,
    others: bool = False,
    also: Schema = NOTHING,
    defaults: Mapping[str, object] | None = None,
    whole: bool = False,
) -> Form[T]:
    """Describe a mapping with keys that are known.

    Args:
        make: makes the value of what the keys say, by name; it may raise a `FieldError` itself.
        fields: the keys, in the order in which they are read and written.
        wanted: what would be right where it is no mapping.
        parts: takes a value apart again, by name, if it is no named tuple.
        others: further keys are passed over.
        also: further words of its schema.
        defaults: name -> value of a key that is not given; without them those of the named tuple that is made.
        whole: every key is written, those with their default, too.
    """
    own: Mapping[str, object] = getattr(make, "_field_defaults", {}) if defaults is None else defaults
    fields = tuple([_around(one, own, others, whole) if one.inside else one for one in fields])
    spread = tuple([one.to for one in fields if one.inside])
    keys = {one.key: None for one in fields}
    absent = [_default(one, own) for one in fields]
    rows = [(one.key, one.to, one.form.read, absent[at], one.null, one.missing) for at, one in enumerate(fields)]

    def take(value: object) -> T:
        if not isinstance(value, dict):
            raise unfit(wanted, value)
        if not others and not value.keys() <= keys.keys():
            only(as_mapping(value, wanted), keys)
        given = {}
        key = ""
        try:
            for key, to, inner, default, null, missing in rows:
                one = value.get(key, _ABSENT)
                if one is not _ABSENT and not (null and one is None):
                    given[to] = inner(one)
                else:
                    given[to] = _lacking(inner, missing) if default is NEEDED else default
        except FieldError as error:
            error.path = (key, *error.path)
            raise
        for name in spread:
            given |= given.pop(name)
        given.pop("", None)
        return make(**given)

    return Form(
        take,
        _record_writer(fields, [_ABSENT] * len(rows) if whole else absent, parts),
        _record_schema(fields, absent, others, also),
    )


def _lacking(read_: Callable[[object], object], missing: str) -> object:
    """Say what is wrong where a key is needed and not there; some forms have a value for that, too."""
    if missing:
        raise FieldError((), missing)
    return read_(None)


def _default(one: Field, own: Mapping[str, object]) -> object:
    return own.get(one.to, None if one.null else NEEDED) if one.default is _ABSENT else one.default


def _around(one: Field, own: Mapping[str, object], others: bool, whole: bool) -> Field:
    """Give a key the form of the keys inside it."""
    form = record(as_dict, *one.inside, parts=dict, others=others, defaults=own, whole=whole)
    try:
        return one._replace(form=form, default=form.read({}))
    except FieldError:  # a key in it is needed, and told even where the mapping is not there
        lenient = form._replace(read=lambda value: form.read({} if value is None else value))
        return one._replace(form=lenient, default=NEEDED, null=False)


def _record_writer(
    fields: Sequence[Field], defaults: Sequence[object], parts: Callable[[T], Mapping[str, object]] | None
) -> Callable[[T], object]:
    def plain(value: T) -> dict[str, object]:
        known: Mapping[str, object] = parts(value) if parts else value._asdict()  # type: ignore[attr-defined]  # a tuple
        return {
            one.key: None if (part := _of(known, one)) is None else one.form.write(part)
            for one, default in zip(fields, defaults, strict=True)
            if one.always or _of(known, one) != default
        }

    return plain


def _of(known: Mapping[str, object], one: Field) -> object:
    return {part.to: known[part.to] for part in one.inside} if one.inside else known.get(one.to, one.default)


def _record_schema(fields: Sequence[Field], defaults: Sequence[object], others: bool, also: Schema) -> Schema:
    must = [one.key for one, default in zip(fields, defaults, strict=True) if default is NEEDED]
    head = {"type": "object"} if others else {"type": "object", "additionalProperties": False}
    properties = {one.key: _property(one) for one in fields}
    return {**head, **({"required": must} if must else {}), **also, "properties": properties}


def _property(one: Field) -> Schema:
    form = nullable(one.form) if one.null and one.default is not NEEDED else one.form
    return {**form.schema, "description": one.says} if one.says else form.schema


as_dict: Final[Callable[..., Data]] = dict
"""Makes a record that stays a mapping."""


def as_mapping(value: object, wanted: str = "a mapping") -> Mapping[str, Any]:
    """Take a mapping with keys that are text."""
    if not isinstance(value, dict):
        raise unfit(wanted, value)
    for key in value:
        if not isinstance(key, str) or not key.isprintable():
            raise FieldError((), f"expected printable keys, got {shown(key)}", "printable keys", key)
    return value


def nullable(form: Form[T]) -> Form[T | None]:
    """Describe a value that may be null."""
    kind = form.schema.get("type")
    several = form.schema["anyOf"] if form.schema.keys() == {"anyOf"} else [form.schema]
    return Form(
        lambda value: None if value is None else form.read(value),
        lambda value: None if value is None else form.write(value),
        {**form.schema, "type": [kind, "null"]}
        if isinstance(kind, str) and NAME not in form.schema
        else {"anyOf": [*several, {"type": "null"}]},
    )


anything: Final[AnyForm] = Form(lambda value: value, lambda value: value, {})
"""Whatever stands there."""
raw: Final[Form[Mapping[str, Any]]] = Form(as_mapping, dict, {"type": "object"})
"""A mapping that is kept as it is read."""
