/**
 * Stores inbound messages. An existing row was written by an earlier run of the same batch and keeps its fate. $1
 * JSON array of rows, keys as in the column list, sealed text as base64.
 */
export const INSERT_INBOUND = `
  INSERT INTO messages (id, direction, carrier, link_id, source, source_ton, source_npi, destination, data_coding,
    text_sealed, part_number, part_total, fate, session_id, account_id)
  SELECT id, 'in', carrier, link_id, source, source_ton, source_npi, destination, data_coding,
    decode(text_sealed, 'base64'), part_number, part_total, fate, session_id, account_id
  FROM json_to_recordset($1::json) AS input (id uuid, carrier text, link_id uuid, source text, source_ton smallint,
    source_npi smallint, destination text, data_coding smallint, text_sealed text, part_number smallint,
    part_total smallint, fate text, session_id uuid, account_id uuid)
  ON CONFLICT (id) DO NOTHING`;
