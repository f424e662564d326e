import smpp from 'smpp';

/** The octets of an MO from a phone to the number of the bench, as npm `smpp` writes them. */
export const messagePdu = (
  command: 'submit_sm' | 'deliver_sm',
  { source, text, sequence }: { readonly source: string; readonly text: string; readonly sequence: number },
): Buffer =>
  new smpp.PDU(command, {
    sequence_number: sequence,
    source_addr_ton: 1,
    source_addr_npi: 1,
    source_addr: source,
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: '14155550199',
    short_message: text,
  }).toBuffer();
