-- The words of short texts without a query inside the function, which took a third of its time: every write makes them.
--
-- The text of a JSON array is its elements between ["..."], with ", " between each two. An element that holds a quote,
-- a backslash or a control character has a backslash there, and only then is the array taken apart by a query. What the
-- function returns is the same as before for any input, so nothing that was made by it has to be made again.
-- depends: 0005.short-pending-lists

SET LOCAL lock_timeout = '10s';
SET LOCAL statement_timeout = '1min';

CREATE OR REPLACE FUNCTION words_of(object_type text, some_property text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    elements text := (object_type::jsonb -> 'arrayOfStringExample')::text;
    text text;
    words tsvector := '';
BEGIN
    IF coalesce(octet_length(elements), 0) <= 1000 AND strpos(coalesce(elements, ''), '\') = 0
        AND coalesce(octet_length(some_property), 0) < 1000
    THEN
        text := ' ' || replace("left"(substr(elements, 3), -2), '", "', ' ');
        RETURN coalesce(to_tsvector('pg_catalog.simple', translate(text, '<', ' ')), '')
            || coalesce(to_tsvector('pg_catalog.simple', translate(' ' || some_property, '<', ' ')), '');
    END IF;
    FOREACH text IN ARRAY ARRAY[
        (SELECT string_agg(' ' || s.text, '' ORDER BY s.place)
         FROM jsonb_array_elements_text(elements::jsonb) WITH ORDINALITY s (text, place)),
        ' ' || some_property]
    LOOP
        IF octet_length(text) > 1000 THEN
            text := (
                SELECT string_agg(' ' || p.piece, '' ORDER BY p.place)
                FROM string_to_table(translate("left"(text, 20000), E'<\t\n\r', '    '), ' ')
                    WITH ORDINALITY p (piece, place)
                WHERE octet_length(p.piece) BETWEEN 1 AND 1000);
        END IF;
        words := words || coalesce(to_tsvector('pg_catalog.simple', translate(text, '<', ' ')), '');
    END LOOP;
    RETURN words;
END
$$;
