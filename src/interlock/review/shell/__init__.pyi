from .model import Command as Command
from .model import KnownFile as KnownFile
from .model import PipeContent as PipeContent
from .model import Redirect as Redirect
from .model import Script as Script
from .reader import read_code as read_code
from .reader import read_script as read_script
