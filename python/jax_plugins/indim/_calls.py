"""What programs call by name: functions of Python's (callbacks), and handlers that are registered by `jax.ffi`."""

import contextlib
import ctypes
import importlib

_HOST = "Host"  # how jaxlib calls the CPU
_STAGES = ("instantiate", "prepare", "initialize", "execute")
# Handlers of jaxlib's in whose place the plugin has its own.
_OURS = {"xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback"}
_LINALG = {"cpu_csr_sparse_dense_ffi", "tridiagonal_solve_perturbed_ffi"}


class _TypeInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extensions", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def _address(capsule):
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return None if capsule is None else pointer(capsule, name(capsule))


def _linalg():
    """Name and address of each of jaxlib's handlers of linear algebra: Indim has its own."""
    known = {}
    for module in ("_lapack", "_sparse"):
        with contextlib.suppress(ImportError):  # jaxlib has had the second since 2025
            known |= importlib.import_module(f"jaxlib.cpu.{module}").registrations()
    return {(name, _address(known[name])) for name in known if name.startswith("lapack_") or name in _LINALG}


def _check(text):
    if text is not None:
        raise ValueError(text.decode())


class _Calls:
    def __init__(self, library):
        self.linalg = _linalg()
        self.set_handler = library.indim_pjrt_register_handler
        self.set_handler.restype = ctypes.c_char_p
        self.set_handler.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * len(_STAGES)
        self.set_type = library.indim_pjrt_register_type
        self.set_type.restype = ctypes.c_char_p
        self.set_type.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]

    def add_handler(self, name, function, api_version):
        stages = function if isinstance(function, dict) else {"execute": function}
        addresses = [_address(stages.get(stage)) for stage in _STAGES]
        if api_version == 1 and name not in _OURS and (name, addresses[-1]) not in self.linalg:
            _check(self.set_handler(name.encode(), *addresses))

    def add_type(self, name, registration):
        if not isinstance(registration, dict):
            registration = {"type_id": registration}
        info = _address(registration.get("type_info"))
        deleter = None if info is None else _TypeInfo.from_address(info).deleter
        _check(self.set_type(name.encode(), _address(registration["type_id"]), deleter))


def connect(path):
    """Lets the library at |path|, which JAX has loaded, call Python, and tells it what is and what will be registered."""
    from jaxlib import xla_client

    from indim import _indim

    library = ctypes.CDLL(path)
    library.indim_pjrt_set_python_caller.restype = None
    library.indim_pjrt_set_python_caller(ctypes.c_void_p(_indim._python_caller()))
    calls = _Calls(library)
    xla = xla_client._xla

    # jaxlib has one listener: what it hears goes on to XLA's CPU backend, which may be in the process too.
    def on_handler(name, function, platform, api_version=0, traits=0):
        xla.register_custom_call_target(name, function, platform, api_version, traits)
        calls.add_handler(name, function, api_version)

    def on_type(name, registration):
        xla.register_custom_type(name, registration)
        calls.add_type(name, registration)

    for name, stages in xla.custom_call_targets(_HOST).items():
        calls.add_handler(name, stages, 1)
    xla_client.register_custom_type_handler("cpu", on_type)
    xla_client.register_custom_call_handler("cpu", on_handler)
