import smpp from 'smpp';
import { describe, expect, it } from 'vitest';
import { COMMAND_IDS, STATUS_CODES, TLVS } from './dictionary-tables.js';
import { commandId, commandName, hasResponse, STATUS, statusName, tlvDefinition, tlvTag } from './dictionary.js';

describe('the dictionary', () => {
  it('has the commands of npm smpp', () => {
    expect(COMMAND_IDS).toEqual(
      Object.fromEntries(Object.values(smpp.commands).map(({ command, id }) => [command, id])),
    );
  });

  it('has the status codes of npm smpp', () => {
    expect(STATUS_CODES).toEqual(smpp.errors);
  });

  it('has the optional parameters of npm smpp, each under one name', () => {
    const kinds = ['int8', 'int16', 'int32', 'cstring', 'string', 'buffer'] as const;
    const theirs = Object.values(smpp.tlvs).map(({ tag, id, type }) => {
      const kind = kinds.find((each) => smpp.types.tlv[each] === type);
      return [tag, [id, kind]];
    });
    expect(TLVS).toEqual(Object.fromEntries(theirs));
  });

  it('maps names to numbers and back', () => {
    expect([commandId('deliver_sm'), commandName(0x0000_0005)]).toEqual([0x0000_0005, 'deliver_sm']);
    expect([commandName(0x0000_0fff), hasResponse(0x0000_0005), hasResponse(0x0000_000b)]).toEqual([null, true, false]);
    expect([STATUS.ESME_RTHROTTLED, statusName(0x58), statusName(0x4ff)]).toEqual([
      0x58,
      'ESME_RTHROTTLED',
      '0x000004ff',
    ]);
    const payload = { tag: 0x0424, name: 'message_payload', kind: 'buffer' };
    expect([tlvTag('message_payload'), tlvDefinition(0x0424), tlvDefinition(0x1400)]).toEqual([
      0x0424,
      payload,
      undefined,
    ]);
  });
});
