from .app import Top as Top
from .run_reader import RunSource as RunSource
