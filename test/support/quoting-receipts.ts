import { encodeUcs2, packSeptets } from '@countersign/text';
import type { PduValues } from 'smpp';

/** Forms of a receipt of that message that quote its text: as octets, packed, in UCS-2 and in hexadecimal. */
export function receiptsOf(phone: string, id: string, code: string): PduValues[] {
  const quoted = Buffer.from(`${code} is your Countersi`);
  const quotes = [quoted, packSeptets(quoted), Buffer.from(quoted.toString('hex'))];
  const fields = Buffer.from(`id:${id} stat:DELIVRD err:000 text:`);
  const addresses = { source_addr: phone.slice(1), destination_addr: '14155550199' };
  const named = { receipted_message_id: id };
  return [
    ...quotes.flatMap((quote) => [
      { esm_class: 0x04, short_message: Buffer.concat([fields, quote]) },
      { esm_class: 0x00, short_message: Buffer.concat([fields, quote]) },
      { esm_class: 0x08, short_message: Buffer.concat([Buffer.from('Delivered: '), quote]) },
      {
        esm_class: 0x00,
        short_message: Buffer.concat([Buffer.from('Delivered: '), quote]),
        ...named,
        message_state: 2,
      },
      { esm_class: 0x00, short_message: Buffer.concat([Buffer.from('Delivered: '), quote]), ...named },
    ]),
    { esm_class: 0x00, short_message: encodeUcs2(`id:${id} stat:DELIVRD err:000 text:${code}`) },
    { esm_class: 0x00, short_message: packSeptets(Buffer.concat([fields, quoted])) },
    { esm_class: 0x04, short_message: fields, additional_status_info_text: quoted.toString() },
  ].map((values) => ({ ...addresses, ...values }));
}
