/** The result of a POST: the values of the metric's label `fate`. */
export type WebhookResult =
  | 'stored'
  | 'unreadable'
  | 'handshake'
  | 'malformed'
  | 'unsigned'
  | 'wrong_token'
  | 'sent_back'
  | 'not_set_up'
  /** Refused by its headers, or by the length of its body. */
  | 'too_large'
  | 'wrong_type'
  /** Its body had not arrived when a newer request exceeded the limit of bodies being read. */
  | 'evicted';
