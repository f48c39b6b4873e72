"""`python -m assistant.cli` is `rootrank`."""

import sys

from assistant.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
