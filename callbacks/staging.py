"""Where Lightning writes checkpoints: beside the file that is to be, so that renaming it is one moment's work."""

import os
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins.io.torch_io import TorchCheckpointIO


class StagedCheckpoints(TorchCheckpointIO):
    """Writes a checkpoint under another name in its own folder, and renames it once it is whole."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | os.PathLike[str], storage_options: Any = None
    ) -> None:
        """Write it whole or not at all."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        try:
            torch.save(checkpoint, part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
