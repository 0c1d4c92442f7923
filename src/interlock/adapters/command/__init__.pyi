from ..steps.client import Steps as Steps
from ..steps.step_protocol import SILENT as SILENT
from ..steps.step_protocol import SPEAKING as SPEAKING
from ..steps.step_protocol import ProcessAdapter as ProcessAdapter
from .front import run_command as run_command
from .job_control import die_of as die_of
from .launch import Launch as Launch
from .owner_messages import Finished as Finished
