"""The tests of the service use the fixtures that those of the workbench use too."""

pytest_plugins = ["tests.support.fixtures"]
