"""What is printed in the terminal as a table."""

from rich.console import Console
from rich.table import Table
from torch import Tensor

from brdiv.metrics import best_response_diversity, mean_diagonal, mean_off_diagonal


def print_cross_play(matrix: Tensor) -> None:
    """Print a cross-play matrix ``[K, K]`` and its summary."""
    table = Table(title="Cross-play: mean return of teammate (row) with best response (column)", title_justify="left")
    table.add_column("teammate", justify="right")
    for j in range(len(matrix)):
        table.add_column(f"BR {j + 1}", justify="right")
    for i, row in enumerate(matrix.tolist()):
        cells = [f"[bold]{value:.3f}[/bold]" if i == j else f"{value:.3f}" for j, value in enumerate(row)]
        table.add_row(str(i + 1), *cells)
    console = Console()
    console.print(table)
    console.print(
        f"mean diagonal {mean_diagonal(matrix):.3f}, mean off-diagonal {mean_off_diagonal(matrix):.3f}, "
        f"BRDiv {best_response_diversity(matrix):.2f}",
        highlight=False,
    )
