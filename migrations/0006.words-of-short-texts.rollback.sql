CREATE OR REPLACE FUNCTION words_of(object_type text, some_property text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    text text;
    words tsvector := '';
BEGIN
    FOREACH text IN ARRAY ARRAY[
        (SELECT string_agg(' ' || s.text, '' ORDER BY s.place)
         FROM jsonb_array_elements_text(object_type::jsonb -> 'arrayOfStringExample') WITH ORDINALITY s (text, place)),
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
