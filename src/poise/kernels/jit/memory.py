"""Memory that kernels receive as one pointer: named workspaces, and handles of many arrays.

Numba unpacks every array of a tuple at every call from Python, 0.3 µs each, and copies the whole tuple into every
function that receives it.

**Named memory** holds the arrays and counters of a workspace. A subclass of `Memory` lists its fields as annotations,
and kernels write `work.residual[r]` and `work.lock_count += 1`. The memory is one block that begins with a table of
words: the value of each number, and of each array its place in the block followed by its shape. Places and shapes never
change, so LLVM may read them once before a loop (`invariant.load`): a name costs what an index into a common array
costs, and a call passes one word instead of seven per array. Everything used for it is in numba's documented extension
interface, but for `populate_array`, which fills the record of an array, and `_numba_type_`, from which numba takes the
type of an object.

**A handle** is one pointer to a record of arrays and tuples that exist already, in memory that numba allocates; a
kernel reads `handle.tree` as it would read the field of a tuple. It touches these internals of numba:
`numba.experimental.structref`, `lower_getattr` and `impl_ret_borrowed` (our own code for reading a field, because
structref's own code needs reference counting), and the layout of the `MemInfo` record of the numba runtime
(`DATA_WORD`) and of the Python object that owns one (`MEMINFO_WORD`). `type_key` calls
`numba._dispatcher.compute_fingerprint`.

Nothing counts references to either, so whoever calls a kernel must keep the memory and the arrays alive.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self, get_type_hints

import numba
import numpy as np
from numba._dispatcher import compute_fingerprint

Array = np.ndarray

LINE = 8
"""Words in a cache line; every array begins at one."""


class Field(NamedTuple):
    """A field of a memory."""

    first: int
    """Index in the table of the first word that describes it."""
    dtype: type
    """`int` or `float`: the type of the number, or of the entries of the array."""
    sizes: tuple[str, ...]
    """Names of the sizes of the array; empty for a number."""


class Memory:
    """A workspace. The annotations of a subclass are its fields: `int`, `float`, or an array with its type and sizes.

    `Annotated[Array, float, "rows", "columns"]` is a C-contiguous array of floats; `Subclass(rows=2, columns=3)`
    allocates it, like all others, filled with zeros.
    """

    _fields: ClassVar[dict[str, Field]]
    _numba_type_: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        """Lay out the table of words, and give each number a property that reads and writes its word."""
        cls._fields, first = {}, 0
        for name, hint in get_type_hints(cls, include_extras=True).items():
            if name.startswith("_"):
                continue
            dtype, *sizes = getattr(hint, "__metadata__", (hint,))
            cls._fields[name] = Field(first, dtype, tuple(sizes))
            if not sizes:
                setattr(cls, name, _number(first, dtype))
            first += 1 + len(sizes)
        cls._numba_type_ = None if numba.config.DISABLE_JIT else MemoryType(f"{cls.__module__}.{cls.__qualname__}", cls)

    def __init__(self, **sizes: int) -> None:
        """Allocate all arrays, with these sizes."""
        size, table = _layout(type(self), tuple(sizes.items()))  # type: ignore[arg-type]
        self._allocate(size)
        self._words[: table.size] = table

    def _allocate(self, size: int) -> None:
        block = np.zeros(size + LINE, dtype=np.int64)
        address = block.__array_interface__["data"][0]
        start = -(address // 8) % LINE
        self._words = block[start : start + size]
        self._address = address + 8 * start

    def __getattr__(self, name: str) -> Array:
        """The array of this name; it is looked up once and then an ordinary attribute."""
        field = self._fields.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        place, *shape = self._words[field.first : field.first + 1 + len(field.sizes)].tolist()
        first = place // 8
        array: Array = self._words[first : first + math.prod(shape)].view(field.dtype).reshape(shape)
        setattr(self, name, array)
        return array

    def copy(self) -> Self:
        """A memory of its own with the same contents."""
        copied = object.__new__(type(self))
        copied._allocate(self._words.size)
        copied._words[:] = self._words
        return copied


@lru_cache(maxsize=256)
def _layout(cls: type[Memory], given: tuple[tuple[str, int], ...]) -> tuple[int, Array]:
    """The number of words of a memory with these sizes, and its table, in which numbers are 0."""
    fields, sizes = cls._fields.values(), dict(given)
    table = np.zeros(sum(1 + len(field.sizes) for field in fields), dtype=np.int64)
    place = -(-table.size // LINE) * LINE
    for field in fields:
        if field.sizes:
            shape = [sizes[size] for size in field.sizes]
            table[field.first : field.first + 1 + len(shape)] = 8 * place, *shape
            place += -(-math.prod(shape) // LINE) * LINE
    return place, table


def _number(at: int, dtype: type) -> property:
    """The property of a number at word `at`."""

    def read(memory: Memory) -> Any:
        return memory._words[at : at + 1].view(dtype)[0]

    def write(memory: Memory, value: float) -> None:
        memory._words[at : at + 1].view(dtype)[0] = value

    return property(read, write)


def type_key(value: Any) -> Hashable:
    """A key for the type that numba has for a number, an array, a memory, a C function, or a tuple of such values.

    `numba.typeof` makes a type for every array and compares it with all others, 10 µs each: 2 ms for an engine. The
    dispatchers of numba call `compute_fingerprint`, which takes 0.1 µs for an array, but knows no memories.
    """
    try:
        return bytes(compute_fingerprint(value))
    except NotImplementedError:
        if isinstance(value, tuple):
            return type(value), *map(type_key, value)
        return getattr(type(value), "_numba_type_", value)


if numba.config.DISABLE_JIT:

    class Handle:
        """The uncompiled stand-in: an object with one attribute per part of an engine."""

        fields: tuple[str, ...] = ()

        def __init__(self, *parts: Any) -> None:
            """Store the parts under the names of `fields`."""
            for name, part in zip(self.fields, parts, strict=True):
                setattr(self, name, part)

    def define_handle(fields: Sequence[str]) -> None:
        """Set the names of the parts of `Handle`, in the order of its constructor."""
        Handle.fields = tuple(fields)

else:
    from llvmlite.ir import Constant, IntType, PointerType  # type: ignore[import-untyped]
    from numba import types
    from numba.core.imputils import impl_ret_borrowed, lower_getattr
    from numba.core.typing.templates import AttributeTemplate
    from numba.experimental import structref
    from numba.extending import (
        NativeValue,
        box,
        infer_getattr,
        lower_getattr_generic,
        lower_setattr_generic,
        models,
        register_model,
        unbox,
    )
    from numba.np.arrayobj import populate_array

    class MemoryType(types.Type):  # type: ignore[misc]
        """Numba's type of a memory."""

        def __init__(self, name: str, memory: type[Memory]) -> None:
            """Compute numba's types of the fields."""
            super().__init__(name)
            self.first = {name: field.first for name, field in memory._fields.items()}
            self.kinds = {name: _kind(field) for name, field in memory._fields.items()}

    def _kind(field: Field) -> Any:
        number = types.int64 if field.dtype is int else types.float64
        return types.Array(number, len(field.sizes), "C") if field.sizes else number

    @register_model(MemoryType)
    class _MemoryModel(models.OpaqueModel):  # type: ignore[misc]
        """A memory is a pointer to its table of words."""

    @unbox(MemoryType)  # type: ignore[untyped-decorator]
    def _unbox(kind: Any, memory: Any, c: Any) -> Any:
        address = c.pyapi.object_getattr_string(memory, "_address")
        pointer = c.pyapi.long_as_voidptr(address)
        c.pyapi.decref(address)
        return NativeValue(pointer)

    @infer_getattr
    class _Fields(AttributeTemplate):  # type: ignore[misc]
        key = MemoryType

        def generic_resolve(self, kind: Any, name: str) -> Any:
            return kind.kinds.get(name)

    def _word(builder: Any, memory: Any, at: int, kind: Any) -> Any:
        """Pointer to word `at`, as a pointer to a `kind`."""
        words = builder.bitcast(memory, IntType(64).as_pointer())
        return builder.bitcast(builder.gep(words, [Constant(IntType(32), at)]), kind.as_pointer())

    @lower_getattr_generic(MemoryType)  # type: ignore[untyped-decorator]
    def _read(context: Any, builder: Any, kind: Any, memory: Any, name: str) -> Any:
        field, at = kind.kinds[name], kind.first[name]
        if not isinstance(field, types.Array):
            return builder.load(_word(builder, memory, at, context.get_value_type(field)))
        values = []
        for i in range(1 + field.ndim):
            value = builder.load(_word(builder, memory, at + i, IntType(64)))
            value.set_metadata("invariant.load", builder.module.add_metadata([]))
            values.append(value)
        array = context.make_array(field)(context, builder)
        itemsize = context.get_constant(types.intp, 8)
        strides = [itemsize]
        for length in values[:1:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        block = builder.bitcast(memory, IntType(8).as_pointer())
        data = builder.bitcast(builder.gep(block, [values[0]]), context.get_data_type(field.dtype).as_pointer())
        populate_array(array, data=data, shape=values[1:], strides=strides, itemsize=itemsize, meminfo=None)
        return impl_ret_borrowed(context, builder, field, array._getvalue())

    @lower_setattr_generic(MemoryType)  # type: ignore[untyped-decorator]
    def _write(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
        (kind, given), (memory, value) = signature.args, arguments
        field = kind.kinds[name]
        value = context.cast(builder, value, given, field)
        builder.store(value, _word(builder, memory, kind.first[name], context.get_value_type(field)))

    DATA_WORD = 3
    """Index of the word of numba's `MemInfo` record that points to the data."""
    MEMINFO_WORD = object.__basicsize__ // 8
    """Index of the word of numba's Python object `MemInfo` that points to that record."""

    @structref.register
    class _HandleType(types.StructRef):  # type: ignore[misc]
        """Numba's type of a handle."""

        def preprocess_fields(self, fields: Any) -> Any:
            """The field types, with literal types replaced by plain ones, so that equal layouts share one type."""
            return tuple((name, types.unliteral(kind)) for name, kind in fields)

    class Handle(structref.StructRefProxy):  # type: ignore[misc,no-redef]
        """A pointer to the parts of an engine; a kernel creates it, so that its constructor is compiled only once."""

    def _register_getter(name: str) -> None:
        """Register code that reads the part `name` without reference counting, which structref's own code needs."""

        @lower_getattr(_HandleType, name)  # type: ignore[untyped-decorator]
        def read(context: Any, builder: Any, kind: Any, handle: Any) -> Any:
            fields = context.data_model_manager[kind.get_data_type()]
            record = builder.bitcast(builder.extract_value(handle, 0), PointerType(PointerType(IntType(8))))
            memory = builder.load(builder.gep(record, [Constant(IntType(32), DATA_WORD)]))
            parts = builder.bitcast(memory, fields.get_value_type().as_pointer())
            at = [Constant(IntType(32), 0), Constant(IntType(32), fields.get_field_position(name))]
            return impl_ret_borrowed(context, builder, kind.field_dict[name], builder.load(builder.gep(parts, at)))

    @box(_HandleType)  # type: ignore[untyped-decorator]
    def _box_handle(kind: Any, handle: Any, c: Any) -> Any:
        """Make a `Handle`, which owns the record, from a pointer to the record."""
        record = c.pyapi.nrt_meminfo_as_pyobject(c.builder.extract_value(handle, 0))
        make, kind_object = (c.pyapi.unserialize(c.pyapi.serialize_object(x)) for x in (Handle._numba_box_, kind))  # type: ignore[attr-defined]
        made = c.pyapi.call_function_objargs(make, [kind_object, record])
        for done in (make, kind_object, record):
            c.pyapi.decref(done)
        return made

    @unbox(_HandleType)  # type: ignore[untyped-decorator]
    def _unbox_handle(kind: Any, handle: Any, c: Any) -> Any:
        """A pointer to the record of a `Handle`, without a reference to it.

        The code of structref takes a reference at every call, and kernels that count no references never give it back:
        no engine that took a step would ever be freed.
        """
        record = c.pyapi.object_getattr_string(handle, "_meminfo")
        words = c.builder.bitcast(record, PointerType(PointerType(IntType(8))))
        meminfo = c.builder.load(c.builder.gep(words, [Constant(IntType(32), MEMINFO_WORD)]))
        c.pyapi.decref(record)
        value = c.builder.insert_value(Constant(c.context.get_value_type(kind), None), meminfo, 0)
        if c.context.enable_nrt:
            c.context.nrt.incref(c.builder, kind, value)
        return NativeValue(value)

    def define_handle(fields: Sequence[str]) -> None:
        """Set the names of the parts of `Handle`, in the order of its constructor."""
        structref.define_constructor(Handle, _HandleType, list(fields))
        for name in fields:
            _register_getter(name)
