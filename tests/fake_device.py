"""A made-up accelerator: paths off the CPU are walked for shapes, dtypes and devices, without any GPU.

A PrivateUse1 backend in Python plus `FakeTensorMode`: no number is computed, and whatever needs one on the host raises.
`Watch` notes copies between host and device, and operations that mix them. Generators can't be faked: a stand-in checks
that a generator's device is the tensor's.
"""

import contextlib
import gc
import traceback

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("gpu")
GPU = torch.device("gpu:0")
torch.gpu.get_amp_supported_dtype = lambda: [torch.bfloat16]  # asked wherever autocast is switched off for a while
OURS = ("/brdiv/", "/callbacks/")


def innermost_line_of_ours():
    for frame in reversed(traceback.extract_stack()):
        if any(part in frame.filename for part in OURS) and "/tests/" not in frame.filename:
            return f"{frame.filename}:{frame.lineno} {frame.line}"
    return "outside brdiv"


class Watch(TorchDispatchMode):
    """Notes copies between devices, and operations that mix them."""

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
        before = {x.device.type for x in tensors}
        out = func(*args, **kwargs)
        after = {x.device.type for x in tree_flatten(out)[0] if isinstance(x, torch.Tensor)}
        if "copy" in str(func) and len(before | after) > 1:
            self.found.append(f"copy {sorted(before)} -> {sorted(after)}: {innermost_line_of_ours()}")
        elif len(before) > 1 and not all(x.dim() == 0 for x in tensors if x.device.type == "cpu"):
            self.found.append(f"mix in {func}: {innermost_line_of_ours()}")
        return out


class Generator:
    """Stands in for `torch.Generator`; the random functions check its device and draw nothing from it."""

    def __init__(self, device="cpu"):
        self.device = GPU if torch.device(device).type == "gpu" else torch.device("cpu")

    def manual_seed(self, seed):
        return self

    def get_state(self):
        return torch.zeros(16, dtype=torch.uint8, device="cpu")

    def set_state(self, state):
        assert state.device.type == "cpu", "a generator's state must be on the CPU"


def without_generator(function):
    """Check the generator's device, then leave it out."""

    def call(*args, generator=None, **kwargs):
        if generator is not None:
            own = args[0].device if isinstance(args[0], torch.Tensor) else torch.device(kwargs.get("device", "cpu"))
            assert own.type == generator.device.type, "a generator of another device"
        return function(*args, **kwargs)

    return call


@contextlib.contextmanager
def fake_gpu():
    """Enter the made-up device; gives what watches it. For a process of its own: torch stays changed."""
    torch.Generator = Generator
    for name in ("randint", "rand", "randperm"):
        setattr(torch, name, without_generator(getattr(torch, name)))
    for name in ("exponential_", "multinomial"):
        setattr(torch.Tensor, name, without_generator(getattr(torch.Tensor, name)))
    make_tensor = torch.tensor  # on a real device a blocking copy from the host, and noted as one here
    torch.tensor = lambda data, device=None, **kwargs: make_tensor(data, **kwargs).to(device or "cpu")
    # Letting go of the storages of fake tensors crashes torch 2.13, so nothing is let go of.
    gc.disable()
    StorageWeakRef.__del__ = lambda self: None
    with FakeTensorMode(allow_non_fake_inputs=True), Watch() as watch:
        yield watch


READS = ("item", "tolist", "__float__", "__bool__", "__int__", "cpu")


@contextlib.contextmanager
def numbers_may_be_read():
    """Let numbers be read back, as zeros: where something is measured, it is also told."""
    kept = {name: getattr(torch.Tensor, name) for name in READS}

    def read(tensor):
        with torch.utils._python_dispatch._disable_current_modes():
            return torch.zeros(tensor.shape, dtype=tensor.dtype)

    own = FakeTensor.tolist  # fake tensors have one of their own
    torch.Tensor.tolist = FakeTensor.tolist = lambda tensor: kept["tolist"](read(tensor))
    torch.Tensor.cpu = read
    for name in ("item", "__float__", "__bool__", "__int__"):
        setattr(torch.Tensor, name, lambda tensor, name=name: kept[name](read(tensor)))
    try:
        yield
    finally:
        FakeTensor.tolist = own
        for name, function in kept.items():
            setattr(torch.Tensor, name, function)


def to_gpu(module):
    """Move a module: `module.to` doesn't know the made-up device."""
    for part in module.modules():
        for name, value in part._parameters.items():
            if value is not None:
                part._parameters[name] = torch.nn.Parameter(value.detach().to(GPU), requires_grad=value.requires_grad)
        for name, value in part._buffers.items():
            if value is not None:
                part._buffers[name] = value.to(GPU)
    return module
