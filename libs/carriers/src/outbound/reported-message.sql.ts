/** The shortest address that names a phone: a national number without its trunk prefix. */
const PHONE_DIGITS = 7;

/** Whether a message went to one of the addresses of a receipt. */
const SENT_TO = `(length(asked.source) >= ${PHONE_DIGITS}
      AND right(message.destination, length(asked.source)) = asked.source
    OR length(asked.destination) >= ${PHONE_DIGITS}
      AND right(message.destination, length(asked.destination)) = asked.destination)`;

/**
 * Per receipt the message of its id if that was sent to one of its addresses (`submitted`), and whether the response to
 * another one to such an address is not recorded yet (`sending`). $1 carriers, $2 their ids, $3 digits of the sources and
 * $4 of the destinations, in the same order. Read by primary keys, and by the index on messages in state `sending`.
 *
 * A receipt without a source is not from a phone, and may name any message of its carrier. It does not wait for responses
 * to others: with codes always under way it would wait without end.
 */
export const FIND_REPORTED = `
  SELECT
    EXISTS (SELECT FROM submissions AS known JOIN outbound_messages AS message ON message.id = known.message_id
      WHERE known.carrier = asked.carrier AND known.smsc_message_id = asked.smsc_id
        AND (asked.source = '' OR ${SENT_TO})) AS submitted,
    EXISTS (SELECT FROM outbound_messages AS message
      WHERE message.state = 'sending' AND message.carrier = asked.carrier AND ${SENT_TO}) AS sending
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
    AS asked (carrier, smsc_id, source, destination, nth)
  ORDER BY nth`;
