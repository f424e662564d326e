import { Injectable } from '@nestjs/common';
import { STATUS, type Pdu } from '@countersign/smpp/pdu';
import { Metrics, type Reading } from '@countersign/telemetry';
import type { InboundLink } from './inbound-link.js';
import { LinkMeter, type Direction, type PeerCounts, type TimedCommand } from './link-meter.js';
import { PeerNames } from './peer-names.js';

/** bind: we connected out. listener: the peer connected in. */
export type Side = 'bind' | 'listener';

/** The present state of a link. */
export interface LinkView {
  /** The name of the bind, or the system_id; empty before a bind. */
  readonly peer: string;
  readonly state: string;
  readonly windowUsed: number;
  readonly window: number;
  /** Time since the bind; null unless bound. */
  readonly boundMs: number | null;
}

/** Present and agreed submit rate of a bind connection, messages per second. */
export interface Pace {
  readonly bind: string;
  readonly perSecond: number;
  readonly agreed: number;
}

const MS_PER_SECOND = 1_000;
const UNKNOWN_STATUS = -1;
const NO_PEER = '';
const STATUS_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(STATUS).map(([name, code]) => [code, name]));

/** A counter with its labels. */
export interface CounterChild {
  inc(): void;
}
/** A histogram with its labels. */
export interface HistogramChild {
  observe(value: number): void;
}
type StatusCounters = Map<number, CounterChild>;

type PeerLabel = 'side' | 'peer';

/** Metrics of SMPP links, per bind and per system. */
@Injectable()
export class LinkMetrics {
  readonly reconnects;
  readonly refusedBinds;
  readonly #wrongPasswords;
  /** Separate for binds and systems, so that many of one kind do not use up the labels of the other. */
  readonly #names = { bind: new PeerNames(), listener: new PeerNames() };
  readonly #views = new Map<Side, () => Iterable<LinkView>>();
  readonly #counts = new Map<string, PeerCounts>();
  readonly #pdus;
  readonly #throttles;
  readonly #responseSeconds;
  readonly #wanted = new Map<string, number>();
  #paces: () => Iterable<Pace> = () => [];
  #withoutProof: () => number = () => 0;
  #systemsAgeMs: () => number = () => 0;

  constructor(metrics: Metrics) {
    this.#pdus = metrics.counter({
      name: 'smpp_pdus_total',
      help: 'PDUs received and sent.',
      labels: ['side', 'direction', 'command', 'status', 'peer'],
    });
    this.#throttles = metrics.counter({
      name: 'smpp_throttles_total',
      help: 'Responses with status 0x58 or 0x14; in: from carriers, out: from this gateway.',
      labels: ['side', 'direction', 'peer'],
    });
    this.#responseSeconds = metrics.histogram({
      name: 'smpp_response_seconds',
      help: 'Time from our request to its response.',
      labels: ['side', 'command', 'peer'],
    });
    this.reconnects = metrics.counter({
      name: 'smpp_reconnects_total',
      help: 'Reconnection attempts of our binds after a failed link or attempt.',
      labels: ['bind'],
    });
    this.refusedBinds = metrics.counter({
      name: 'smpp_refused_binds_total',
      help: 'Bind requests and outbinds refused by the listener.',
      labels: ['refusal'],
    });
    this.#wrongPasswords = metrics.counter({
      name: 'smpp_wrong_passwords_total',
      help: 'Binds refused for a wrong password, by system_id.',
      labels: ['peer'],
    });
    this.#gauges(metrics);
  }

  /** `systemId` must exist, so that peers cannot create label values. */
  countWrongPassword(systemId: string): void {
    this.#wrongPasswords.inc({ peer: this.peerLabel('listener', systemId) });
  }

  /** Sets the source of the link gauges of one side. Must not throw. */
  setLinkSource(side: Side, views: () => Iterable<LinkView>): void {
    this.#views.set(side, views);
  }

  /** Sets the source of the pace gauges. */
  setPaceSource(paces: () => Iterable<Pace>): void {
    this.#paces = paces;
  }

  /** Sets the source of the gauge smpp_systems_without_proof. Must not throw. */
  setWithoutProofSource(count: () => number): void {
    this.#withoutProof = count;
  }

  /** Sets the source of the gauge smpp_systems_age_seconds, in milliseconds. Must not throw. */
  setSystemsAgeSource(ageMs: () => number): void {
    this.#systemsAgeMs = ageMs;
  }

  /** Sets the number of connections that each enabled bind wants, over all gateways. */
  setWantedConnections(binds: Iterable<{ readonly name: string; readonly connections: number }>): void {
    this.#wanted.clear();
    for (const { name, connections } of binds) {
      const peer = this.peerLabel('bind', name);
      this.#wanted.set(peer, (this.#wanted.get(peer) ?? 0) + connections);
    }
  }

  /** A meter for the successive links of a bind connection, or for one connection of a system, without a name until it binds. */
  createMeter(side: Side, name = NO_PEER): LinkMeter {
    return new LinkMeter((peer) => this.#countsOf(side, peer), name);
  }

  /** The `peer` label of a bind or a system, in every metric. */
  peerLabel(side: Side, name: string): string {
    return name === NO_PEER ? NO_PEER : this.#names[side].labelOf(name);
  }

  /** Labels of the link that carried a message. */
  labelsOf(link: InboundLink): { readonly side: Side; readonly peer: string } {
    // Only connections of our binds have a lease.
    const side = link.lease === undefined ? 'listener' : 'bind';
    return { side, peer: this.peerLabel(side, link.peer) };
  }

  /** Called for every PDU, so the counters are cached. */
  #countsOf(side: Side, name: string): PeerCounts {
    const peer = this.peerLabel(side, name);
    const key = `${side} ${peer}`;
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const timers = new Map<TimedCommand, HistogramChild>();
    const counts = {
      countPdu: this.#counterOf(side, peer),
      countThrottle: (direction: Direction): void => this.#throttles.inc({ side, direction, peer }),
      observeResponse: (command: TimedCommand, seconds: number): void => {
        let timer = timers.get(command);
        if (timer === undefined) timers.set(command, (timer = this.#responseSeconds.labels({ side, command, peer })));
        timer.observe(seconds);
      },
    };
    this.#counts.set(key, counts);
    return counts;
  }

  #counterOf(side: Side, peer: string): PeerCounts['countPdu'] {
    const known = { in: new Map<string, StatusCounters>(), out: new Map<string, StatusCounters>() };
    return (direction: Direction, { command, status }: Pdu): void => {
      const byStatus = known[direction].get(command) ?? new Map<number, CounterChild>();
      if (byStatus.size === 0) known[direction].set(command, byStatus);
      const code = STATUS_NAMES.has(status) ? status : UNKNOWN_STATUS;
      let counter = byStatus.get(code);
      if (counter === undefined) {
        const name = STATUS_NAMES.get(code) ?? 'unknown';
        byStatus.set(code, (counter = this.#pdus.labels({ side, direction, command, status: name, peer })));
      }
      counter.inc();
    };
  }

  #gauges(metrics: Metrics): void {
    const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
    const shown = (name: string, help: string, value: (links: readonly LinkView[]) => number): void => {
      metrics.gauge({ name, help, labels: ['side', 'peer'], readAll: () => this.#perPeer(value) });
    };
    metrics.gauge({
      name: 'smpp_links',
      help: 'Links by side (bind: we connected out, listener: the peer connected in) and state.',
      labels: ['side', 'state', 'peer'],
      readAll: () => this.#perState(),
    });
    shown('smpp_window_used', 'Our unanswered requests, on bound links.', (links) =>
      sum(links.map(({ windowUsed }) => windowUsed)),
    );
    shown('smpp_window_size', 'Maximum of our unanswered requests, on bound links.', (links) =>
      sum(links.map(({ window }) => window)),
    );
    shown('smpp_link_age_seconds', 'Age of the most recently bound link.', (links) => {
      return Math.min(...links.map(({ boundMs }) => boundMs ?? 0)) / MS_PER_SECOND;
    });
    metrics.gauge({
      name: 'smpp_connections_wanted',
      help: 'Connections that enabled binds are configured for, over all gateways.',
      labels: ['bind'],
      readAll: () => [...this.#wanted].map(([bind, value]) => ({ labels: { bind }, value })),
    });
    metrics.gauge({
      name: 'smpp_systems_without_proof',
      help: 'Enabled systems with trustedForMo whose MOs are not trusted: allowedCidrs and tlsRequired do not prove their connections.',
      read: () => this.#withoutProof(),
    });
    metrics.gauge({
      name: 'smpp_systems_age_seconds',
      help: 'Time since the systems that connect in were read. Above 10 s MOs of trusted ones get a retryable status.',
      read: () => this.#systemsAgeMs() / MS_PER_SECOND,
    });
    this.#paceGauge(
      metrics,
      'smpp_pace_per_second',
      'Messages per second that the links of this gateway may send now.',
      'perSecond',
    );
    this.#paceGauge(
      metrics,
      'smpp_agreed_pace_per_second',
      'Messages per second agreed for the links of this gateway.',
      'agreed',
    );
  }

  #paceGauge(metrics: Metrics, name: string, help: string, of: 'perSecond' | 'agreed'): void {
    const readAll = (): Reading<'bind'>[] => {
      const paces = new Map<string, number>();
      for (const pace of this.#paces()) {
        const bind = this.peerLabel('bind', pace.bind);
        paces.set(bind, (paces.get(bind) ?? 0) + pace[of]);
      }
      return [...paces].map(([bind, value]) => ({ labels: { bind }, value }));
    };
    metrics.gauge({ name, help, labels: ['bind'], readAll });
  }

  #perPeer(value: (links: readonly LinkView[]) => number): Reading<PeerLabel>[] {
    const readings: Reading<PeerLabel>[] = [];
    for (const [side, views] of this.#views) {
      const bound = [...views()].filter(({ boundMs }) => boundMs !== null);
      for (const [peer, links] of groupOf(bound, (link) => this.peerLabel(side, link.peer))) {
        readings.push({ labels: { side, peer }, value: value(links) });
      }
    }
    return readings;
  }

  #perState(): Reading<PeerLabel | 'state'>[] {
    return [...this.#views].flatMap(([side, views]) =>
      [...groupOf(views(), ({ peer }) => this.peerLabel(side, peer))].flatMap(([peer, links]) =>
        [...groupOf(links, ({ state }) => state)].map(([state, { length: value }]) => {
          return { labels: { side, state, peer }, value };
        }),
      ),
    );
  }
}

function groupOf<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
