from .lines import Lines as Lines
from .lines import print_totals as print_totals
from .narrator import Narrator as Narrator
from .performance import play as play
from .player import DemoEvent as DemoEvent
from .split_screen import LEAST_COLUMNS as LEAST_COLUMNS
from .split_screen import LEAST_ROWS as LEAST_ROWS
from .split_screen import SplitScreen as SplitScreen
