from .narrator import Narrator as Narrator
from .performance import play as play
from .player import DemoEvent as DemoEvent
from .screens import LEAST_COLUMNS as LEAST_COLUMNS
from .screens import LEAST_ROWS as LEAST_ROWS
from .screens import Lines as Lines
from .screens import SplitScreen as SplitScreen
from .screens import print_totals as print_totals
