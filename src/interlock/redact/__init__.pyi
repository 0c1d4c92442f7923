from .bounds import one_line as one_line
from .secret_names import kind_of_name as kind_of_name
from .step_redactor import StepRedactor as StepRedactor
from .step_redactor import withhold as withhold
from .text import redact_argv as redact_argv
from .text import redact_text as redact_text
from .text import redact_tree as redact_tree
from .text import redactor as redactor
