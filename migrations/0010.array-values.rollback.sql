ALTER TABLE resource DROP COLUMN arrays, DROP COLUMN staged_arrays, DROP COLUMN arrays_version;
DROP FUNCTION distinct_integers(jsonb), distinct_integers(jsonb, text), distinct_numbers(jsonb), distinct_texts(jsonb);
DROP TYPE array_values;
