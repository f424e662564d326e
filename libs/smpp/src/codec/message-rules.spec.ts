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
const USER_ACK = 0x10;
const NOTIFICATION = 0x20;

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
    ['a submit_sm without a text', submitSm({}), 0],
    ['a data_sm without message_payload', dataSm({}), STATUS.ESME_RMISSINGTLV],
    ['a data_sm with another TLV only', dataSm({}, [integerTlv('source_port', 7)]), STATUS.ESME_RMISSINGTLV],
    ['a data_sm with the id of a receipt alone', dataSm({}, [textTlv('receipted_message_id', '1')]), 0],
    ['a data_sm with an empty message_payload', dataSm({}, [octetsTlv('message_payload', Buffer.alloc(0))]), 0],
    ['a data_sm with message_payload', dataSm({}, [PAYLOAD]), 0],
    ['a data_sm acknowledgement of a user', dataSm({ esmClass: USER_ACK }, [integerTlv('user_response_code', 1)]), 0],
    ['a reserved payload_type', dataSm({}, [PAYLOAD, integerTlv('payload_type', 2)]), STATUS.ESME_RINVTLVVAL],
    ['a WCMP payload', dataSm({}, [PAYLOAD, integerTlv('payload_type', 1)]), 0],
    ['a data_sm notification without id and text', dataSm({ esmClass: NOTIFICATION }), STATUS.ESME_RMISSINGTLV],
    [
      'a data_sm notification with an id',
      dataSm({ esmClass: NOTIFICATION }, [textTlv('receipted_message_id', '1')]),
      0,
    ],
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
