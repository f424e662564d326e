import { describe, expect, it } from 'vitest';
import { submitSm } from '../pdu/pdu.js';
import { redactPdu } from './redact.js';
import { integerTlv, octetsTlv } from '../pdu/tlv.js';

describe('a PDU for a log', () => {
  it('shows neither text nor password, and masks addresses', () => {
    const tlvs = [octetsTlv('message_payload', Buffer.from('123456')), integerTlv('message_state', 2)];
    const message = submitSm(
      {
        destinationAddress: { ton: 1, npi: 1, value: '15551230001' },
        shortMessage: Buffer.from('123456 is your code'),
      },
      [...tlvs, { tag: 0x1400, value: Buffer.from('123456') }],
    );
    const shown = redactPdu({ ...message, sequence: 7 });
    expect(shown).toMatchObject({
      command: 'submit_sm',
      status: 'ESME_ROK',
      sequence: 7,
      destinationAddress: { ton: 1, npi: 1, value: '1555…01' },
      shortMessage: '[19 octets]',
      tlvs: { message_payload: '[6 octets]', message_state: 2, '0x1400': '[6 octets]' },
    });
    expect(JSON.stringify(shown)).not.toContain('123456');
  });

  it('shows an alert without a value', () => {
    const alert = octetsTlv('alert_on_message_delivery', Buffer.alloc(0));
    const shown = redactPdu({ ...submitSm({}, [alert]), sequence: 7 });
    expect(shown).toMatchObject({ tlvs: { alert_on_message_delivery: '[0 octets]' } });
  });

  it('hides the password of a bind', () => {
    const fields = {
      systemId: 'carrier',
      password: 'hunter2',
      systemType: '',
      interfaceVersion: 0x34,
      addressTon: 0,
      addressNpi: 0,
      addressRange: '',
    };
    const shown = redactPdu({ command: 'bind_receiver', status: 0, sequence: 1, fields, tlvs: [] });
    expect(shown).toMatchObject({ systemId: 'carrier', password: '[redacted]' });
  });
});
