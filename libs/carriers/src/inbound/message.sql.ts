import { prepared, recordsetOf } from '@countersign/postgres';
import { MessageEntity } from './message.entity.js';

const NEW = recordsetOf(MessageEntity, { without: ['direction', 'receivedAt'] });

/**
 * Stores inbound messages. An existing row was written by an earlier run of the same batch and keeps its fate. $1
 * JSON array of rows (see `insertRow`).
 */
export const INSERT_INBOUND = prepared(`
  INSERT INTO messages (direction, ${NEW.columns})
  SELECT 'in', ${NEW.values} FROM json_to_recordset($1::json) AS input (${NEW.types})
  ON CONFLICT (id) DO NOTHING`);
