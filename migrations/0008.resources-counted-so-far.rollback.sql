DELETE FROM resource_count WHERE slot = -1;
