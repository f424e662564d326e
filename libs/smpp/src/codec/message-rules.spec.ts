import { describe, expect, it } from 'vitest';
import { STATUS } from '../pdu/dictionary.js';
import { messageFault } from './message-rules.js';
import { dataSm, deliverSm, submitSm } from '../pdu/pdu.js';
import type { MessagePdu, Outgoing } from '../pdu/pdu.js';
import { integerTlv, octetsTlv, textTlv } from '../pdu/tlv.js';

const faultOf = (pdu: Outgoing<MessagePdu>): number => messageFault(pdu.command, pdu.fields, pdu.tlvs)?.status ?? 0;
const TEXT = Buffer.from('text');
const PAYLOAD = octetsTlv('message_payload', TEXT);
const RECEIPT = 0x04;

describe('a message as a whole', () => {
  it.each([
    ['both short_message and message_payload', submitSm({ shortMessage: TEXT }, [PAYLOAD]), STATUS.ESME_RTLVNOTALLWD],
    ['message_payload only', submitSm({}, [PAYLOAD]), 0],
    ['short_message only', deliverSm({ shortMessage: TEXT }), 0],
    [
      'a text and an empty payload',
      deliverSm({ shortMessage: TEXT }, [octetsTlv('message_payload', Buffer.alloc(0))]),
      0,
    ],
    ['no text', dataSm({}), 0],
    ['a reserved payload_type', dataSm({}, [integerTlv('payload_type', 2)]), STATUS.ESME_RINVTLVVAL],
    ['a WCMP payload', dataSm({}, [integerTlv('payload_type', 1)]), 0],
    ['a data_sm receipt without id and text', dataSm({ esmClass: RECEIPT }), STATUS.ESME_RMISSINGTLV],
    ['a data_sm receipt with an id', dataSm({ esmClass: RECEIPT }, [textTlv('receipted_message_id', '1')]), 0],
    ['a data_sm receipt with a text', dataSm({ esmClass: RECEIPT }, [PAYLOAD]), 0],
    ['a deliver_sm receipt without id and text', deliverSm({ esmClass: RECEIPT }), 0],
  ])('%s', (_what, pdu, status) => {
    expect(faultOf(pdu)).toBe(status);
  });

  it('is not checked for other PDUs', () => {
    expect(messageFault('submit_sm_resp', { messageId: '1' }, [integerTlv('payload_type', 9)])).toBe(null);
  });
});
