import { submitSm, type Pdu } from '@countersign/smpp/pdu';
import { Metrics } from '@countersign/telemetry';
import { describe, expect, it } from 'vitest';
import { LinkMetrics, type LinkView } from './link.metrics.js';
import { MAX_PEERS } from './peer-names.js';

const THROTTLED = 0x58;
const UNKNOWN_CODE = 0x7abc;

function opened(): { links: LinkMetrics; lines: (beginning: string) => Promise<string[]> } {
  const metrics = new Metrics({ app: 'test', processMetrics: false });
  const links = new LinkMetrics(metrics);
  const lines = async (beginning: string): Promise<string[]> =>
    (await metrics.render()).text.split('\n').filter((line) => line.startsWith(`countersign_${beginning}`));
  return { links, lines };
}

const submit = (sequence: number): Pdu => ({ ...submitSm({ shortMessage: Buffer.from('hi') }), sequence });
const answer = (sequence: number, status = 0): Pdu => ({
  command: 'submit_sm_resp',
  status,
  sequence,
  fields: { messageId: '1' },
  tlvs: [],
});
const view = (changes: Partial<LinkView> = {}): LinkView => ({
  peer: 'north',
  state: 'bound',
  windowUsed: 3,
  window: 10,
  boundMs: 60_000,
  ...changes,
});

describe('metrics of a link', () => {
  it('count PDUs by bind, direction, command and status', async () => {
    const { links, lines } = opened();
    const meter = links.createMeter('bind', 'north');
    meter.countPdu('out', submit(1), 0);
    meter.countPdu('in', answer(1, THROTTLED), 5);
    expect(await lines('smpp_pdus_total')).toEqual([
      'countersign_smpp_pdus_total{side="bind",direction="out",command="submit_sm",status="ESME_ROK",peer="north",app="test"} 1',
      'countersign_smpp_pdus_total{side="bind",direction="in",command="submit_sm_resp",status="ESME_RTHROTTLED",peer="north",app="test"} 1',
    ]);
    expect(await lines('smpp_throttles_total{side="bind",direction="in",peer="north"')).toHaveLength(1);
  });

  it('measure the time of each response to our requests, once', async () => {
    const { links, lines } = opened();
    const meter = links.createMeter('bind', 'north');
    meter.countPdu('out', submit(7), 1_000);
    meter.countPdu('in', answer(7), 1_250);
    meter.countPdu('in', answer(7), 9_000);
    expect(await lines('smpp_response_seconds_count')).toEqual([
      'countersign_smpp_response_seconds_count{app="test",side="bind",command="submit_sm",peer="north"} 1',
    ]);
    expect((await lines('smpp_response_seconds_sum'))[0]).toMatch(/ 0\.25$/);
  });

  it('restart with the bind of a connection: an old sequence number is not timed', async () => {
    const { links, lines } = opened();
    const meter = links.createMeter('bind', 'north');
    meter.countPdu('out', submit(2), 0);
    const bind = { systemId: 'us', password: 'x', systemType: '', interfaceVersion: 0x34 };
    const address = { addressTon: 0, addressNpi: 0, addressRange: '' };
    meter.countPdu(
      'out',
      { command: 'bind_transceiver', status: 0, sequence: 1, fields: { ...bind, ...address }, tlvs: [] },
      60_000,
    );
    meter.countPdu('in', answer(2), 60_001);
    expect(await lines('smpp_response_seconds_count')).toEqual([]);
  });

  it('have the system as peer after its bind, and no peer before', async () => {
    const { links, lines } = opened();
    const meter = links.createMeter('listener');
    meter.countPdu('in', submit(1), 0);
    meter.setPeer('aggregator');
    meter.countPdu('in', submit(2), 0);
    expect((await lines('smpp_pdus_total')).map((line) => /peer="(.*?)"/.exec(line)?.[1])).toEqual(['', 'aggregator']);
  });

  it('have a bounded number of labels, whatever statuses and however many peers there are', async () => {
    const { links, lines } = opened();
    for (let at = 0; at < MAX_PEERS + 50; at += 1) {
      const meter = links.createMeter('bind', `bind-${at}`);
      meter.countPdu('in', answer(1, UNKNOWN_CODE), 0);
      meter.countPdu('in', answer(1, UNKNOWN_CODE + at), 0);
    }
    const counted = await lines('smpp_pdus_total');
    expect(counted).toHaveLength(MAX_PEERS + 1);
    expect(counted.at(-1)).toContain('status="unknown",peer="(others)",app="test"} 100');
  });
});

describe('link gauges', () => {
  it('show links by state, and have no reading after the last link', async () => {
    const { links, lines } = opened();
    let alive: LinkView[] = [
      view(),
      view({ windowUsed: 1, boundMs: 5_000 }),
      view({ state: 'standoff', boundMs: null }),
    ];
    links.setLinkSource('bind', () => alive);
    expect(await lines('smpp_links{')).toEqual([
      'countersign_smpp_links{side="bind",state="bound",peer="north",app="test"} 2',
      'countersign_smpp_links{side="bind",state="standoff",peer="north",app="test"} 1',
    ]);
    expect(await lines('smpp_window_used{')).toEqual([
      'countersign_smpp_window_used{side="bind",peer="north",app="test"} 4',
    ]);
    expect(await lines('smpp_window_size{')).toEqual([
      'countersign_smpp_window_size{side="bind",peer="north",app="test"} 20',
    ]);
    expect(await lines('smpp_link_age_seconds{')).toEqual([
      'countersign_smpp_link_age_seconds{side="bind",peer="north",app="test"} 5',
    ]);
    alive = [];
    expect(await lines('smpp_links{')).toEqual([]);
  });

  it('show wanted connections, present and agreed pace', async () => {
    const { links, lines } = opened();
    links.setWantedConnections([{ name: 'north', connections: 2 }]);
    links.setPaceSource(() => [
      { bind: 'north', perSecond: 12.5, agreed: 25 },
      { bind: 'north', perSecond: 25, agreed: 25 },
    ]);
    expect(await lines('smpp_connections_wanted{')).toEqual([
      'countersign_smpp_connections_wanted{bind="north",app="test"} 2',
    ]);
    expect(await lines('smpp_pace_per_second{')).toEqual([
      'countersign_smpp_pace_per_second{bind="north",app="test"} 37.5',
    ]);
    expect(await lines('smpp_agreed_pace_per_second{')).toEqual([
      'countersign_smpp_agreed_pace_per_second{bind="north",app="test"} 50',
    ]);
    links.setWantedConnections([]);
    expect(await lines('smpp_connections_wanted{')).toEqual([]);
  });
});
