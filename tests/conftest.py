"""For all tests."""

import signal
import threading


def pytest_configure() -> None:
    """A shell starts what it runs in the background deaf to Ctrl-C, nohup to the terminal's end, and the programs that
    tests interrupt with it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
