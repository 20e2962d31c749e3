-- The distinct values of each array of an ObjectType, sorted, beside the documents. A facet over an array counts them
-- without taking the document apart, which took three times as long.
--
-- arrays and staged_arrays are valid as long as arrays_version equals version. A write of the service sets all of them,
-- an UPDATE of an earlier version raises version alone, and rows that are older than this migration have none: of such
-- rows facets read the documents, and the service fills them at leisure. staged_arrays is NULL while the projections are
-- equal. An array without values is NULL.
--
-- Each column is nullable and has no default, so no row is touched and the table is locked for a moment only. A generated
-- column would compute the arrays by itself, but adding one rewrites the table under a lock.
-- depends: 0009.unindexed-texts

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

CREATE TYPE array_values AS (
    array_of_int        bigint[],
    array_of_unique_int bigint[],
    array_of_twonumbers numeric[],
    array_of_float      numeric[],
    array_of_number     numeric[],
    array_of_string     text[] COLLATE "C",
    object_integer      bigint[],
    object_int32        bigint[]
);

-- The same arrays from the elements of a document. PostgreSQL runs a query that stands in an expression in no parallel
-- worker, but a function that contains one. Since it knows no sizes of projects, it takes a scan that calls these for
-- large only if they are expensive: with COST 5000 a table of a hundred thousand resources is read by several workers.
CREATE FUNCTION distinct_integers(elements jsonb) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5000 AS $$
BEGIN
    RETURN (
        SELECT array_agg(DISTINCT (e.value)::bigint ORDER BY (e.value)::bigint)
        FROM jsonb_array_elements(elements) e (value));
END
$$;

CREATE FUNCTION distinct_integers(elements jsonb, member text) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5000 AS $$
BEGIN
    RETURN (
        SELECT array_agg(DISTINCT (e.value -> member)::bigint ORDER BY (e.value -> member)::bigint)
        FROM jsonb_array_elements(elements) e (value) WHERE e.value ? member);
END
$$;

CREATE FUNCTION distinct_numbers(elements jsonb) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5000 AS $$
BEGIN
    RETURN (
        SELECT array_agg(DISTINCT (e.value)::numeric ORDER BY (e.value)::numeric)
        FROM jsonb_array_elements(elements) e (value));
END
$$;

CREATE FUNCTION distinct_texts(elements jsonb) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5000 AS $$
BEGIN
    RETURN (
        SELECT array_agg(DISTINCT e.value COLLATE "C" ORDER BY e.value COLLATE "C")
        FROM jsonb_array_elements_text(elements) e (value));
END
$$;

ALTER TABLE resource
    ADD COLUMN arrays array_values,
    ADD COLUMN staged_arrays array_values,
    ADD COLUMN arrays_version bigint;
