import { encodeGsm, encodeUcs2, packSeptets } from '@countersign/text';

/** One form of a delivery receipt, as carriers send them. */
export interface ReceiptForm {
  readonly what: string;
  readonly command: 'deliver_sm' | 'data_sm';
  readonly dataCoding: number;
  readonly text: Buffer;
  readonly inPayload: boolean;
  readonly tlvs: {
    readonly receipted_message_id?: Buffer;
    readonly message_state?: number;
    readonly network_error_code?: Buffer;
  };
  readonly state: 'delivered' | 'undelivered';
  readonly networkError: string | null;
}

const form = (what: string, text: string | Buffer, changes: Partial<ReceiptForm> = {}): ReceiptForm => ({
  what,
  command: 'deliver_sm',
  dataCoding: 0,
  text: Buffer.from(text),
  inPayload: false,
  tlvs: {},
  state: 'delivered',
  networkError: null,
  ...changes,
});
const failed = (networkError: string): Partial<ReceiptForm> => ({ state: 'undelivered', networkError });
const packed = (text: string): Buffer => packSeptets(encodeGsm(text) ?? Buffer.alloc(0));

/** Receipts by their text (SMPP 3.4, appendix B) for a message with that id. */
export function textForms(id: string): ReceiptForm[] {
  const dates = 'submit date:2511211200 done date:2511211201';
  const text = `id:${id} sub:001 dlvrd:001 ${dates} stat:DELIVRD err:000 text:123456 is your`;
  return [
    form('as in appendix B', text),
    form('of a failure', text.replace('DELIVRD', 'UNDELIV').replace('err:000', 'err:027'), failed('027')),
    form('in upper case', text.toUpperCase()),
    form('in lower case', text.toLowerCase()),
    form('with the state first', `stat:DELIVRD err:000 ${dates} sub:001 dlvrd:001 id:${id}`),
    form('with sub first', `sub:001 dlvrd:001 id:${id} stat:DELIVRD err:000`),
    form('with the dates first', `${dates} stat:EXPIRED err:000 id:${id}`, failed('EXPIRED')),
    form('with the quotation first', `text:123456 is your id:${id} stat:DELIVRD err:000`),
    form('without sub and dlvrd', `id:${id} ${dates} stat:DELIVRD err:000 text:`),
    form('without dates', `id:${id} sub:001 dlvrd:001 stat:REJECTD err:000 text:`, failed('REJECTD')),
    form('with id and state alone', `id:${id} stat:DELIVRD`),
    form('without a quotation', text.replace(/ text:.*/, '')),
    form('with a state in the quotation', text.replace('123456 is your', 'stat:UNDELIV err:9')),
    form('with a space behind colons', text.replace(/:(?=\S)/g, ': ')),
    form('with spaces on both sides of colons', `id : ${id} stat : DELIVRD err : 000`),
    form('with two spaces between fields', text.replaceAll(' ', '  ').replace(/ {2}date/g, ' date')),
    form('with white space before it', ` \r\n${text}`),
    form('in lines', text.replace(/ (?=sub|dlvrd|submit|done|stat|err|text)/g, '\r\n')),
    form('with commas', `id:${id},sub:001,dlvrd:001,stat:DELIVRD,err:000,text:`),
    form('with semicolons', `id:${id}; stat:UNDELIV; err:12;`, failed('12')),
    form('with a NUL at its end', `id:${id} stat:DELIVRD err:000\0`),
    form('with a NUL behind the id', `stat:DELIVRD id:${id}\0`),
    form('with the label state', text.replace('stat:', 'state:')),
    form('with the label status', text.replace('stat:', 'Status:')),
    form('with the label error', text.replace('stat:DELIVRD err:000', 'stat:UNDELIV error:44'), failed('44')),
    form('with Stat and Text', text.replace('stat', 'Stat').replace('text', 'Text')),
    form('with the full name of the state', text.replace('DELIVRD', 'Delivered')),
    form('with a full name of a failure', text.replace('DELIVRD', 'Undeliverable'), failed('UNDELIV')),
    form('with seconds in its dates', text.replaceAll(/date:(\d{10})/g, 'date:$100')),
    form('with a century in its dates', text.replaceAll('date:25', 'date:2025').replaceAll('120', '12000')),
    form('with ISO dates', text.replaceAll(/date:\d+/g, 'date:2025-11-21T12:00:00+00:00')),
    form('with dates of two words', text.replaceAll(/date:\d+/g, 'date:2025-11-21 12:00:00')),
    form('with an error of letters', text.replace('DELIVRD err:000', 'UNDELIV err:A0c'), failed('A0c')),
    form('with a hexadecimal error', text.replace('DELIVRD err:000', 'UNDELIV err:0x1f'), failed('0x1f')),
    form('without an error', text.replace('DELIVRD err:000', 'DELETED err:'), failed('DELETED')),
    form('with its id in another case', text.replace(id, id.toUpperCase())),
    form('with zeros before its id', text.replace(id, `000${id}`)),
    form('in message_payload', text, { inPayload: true }),
    form('in a data_sm', text, { inPayload: true, command: 'data_sm' }),
    form('in UCS-2', encodeUcs2(text.slice(0, 120)), { dataCoding: 8 }),
    form('in UCS-2 with a byte order mark', encodeUcs2(`\ufeff${text.slice(0, 120)}`), { dataCoding: 8 }),
    form('in little-endian UCS-2', Buffer.from(text.slice(0, 120), 'utf16le'), { dataCoding: 8 }),
    form('in Latin-1', text, { dataCoding: 3 }),
  ];
}

/** Receipts whose TLVs say that they are receipts. */
export function tlvForms(id: string): ReceiptForm[] {
  const named = { receipted_message_id: Buffer.from(`${id}\0`, 'latin1') };
  const text = `id:${id} sub:001 dlvrd:001 stat:UNDELIV err:027 text:`;
  const code = { network_error_code: Buffer.from([3, 0, 27]) };
  return [
    form('by TLVs alone', '', { tlvs: { ...named, message_state: 2 } }),
    form('by TLVs in a data_sm', '', { command: 'data_sm', tlvs: { ...named, message_state: 2 } }),
    form('by TLVs and text', text, { tlvs: { ...named, message_state: 2 } }),
    form('by TLVs beside any text', 'Your message has arrived', { tlvs: { ...named, message_state: 2 } }),
    form('by TLVs with an error', '', { tlvs: { ...named, message_state: 5, ...code }, ...failed('027') }),
    form('by its state and the id of any text', `message id:${id} gone`, {
      tlvs: { message_state: 8 },
      ...failed('REJECTD'),
    }),
    form('by its id and the state of its text', text, { tlvs: named, ...failed('027') }),
    form('by an empty id and the id of its text', text, {
      tlvs: { receipted_message_id: Buffer.from('\0'), message_state: 2 },
    }),
    form('by an id without its NUL', '', {
      tlvs: { receipted_message_id: Buffer.from(id), message_state: 2 },
    }),
  ];
}

/** Receipts in packed septets, over links with that alphabet. */
export function packedForms(id: string): ReceiptForm[] {
  const text = `id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000 text:`;
  return [form('in packed septets', packed(text)), form('in an octet per character', text)];
}
