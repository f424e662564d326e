import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { NotSentError, type SmppLink } from '@countersign/smpp/link';
import { STATUS, submitSm } from '@countersign/smpp/pdu';
import { meteredLink } from '../metered-link.js';
import { median } from '../statistics.js';

/** Sends to a faulty carrier for the given time and reconnects whenever the link is lost. */
export interface SoakTask {
  readonly port: number;
  readonly seconds: number;
}

export interface SoakFigure {
  readonly answered: number;
  readonly throttled: number;
  readonly unanswered: number;
  readonly connections: number;
  /** Resident set: the medians of the second and of the last quarter of the time. */
  readonly earlyMiB: number;
  readonly lateMiB: number;
}

const WINDOW = 50;
/** More than the window: the rest waits in the link's queue. */
const UNDER_WAY = 500;
/** Shorter than a gateway's, so that a mute carrier causes many timeouts within one soak. */
const RESPONSE_MS = 1_000;
const SAMPLES = 200;
const PAUSE_MS = 10;
const OCTETS_PER_MIB = 1_048_576;
const TIMERS = {
  sessionInitMs: 5_000,
  pduReadMs: 5_000,
  enquireLinkMs: 2_000,
  responseMs: RESPONSE_MS,
  inactivityMs: 0,
};

const counts = { answered: 0, throttled: 0, unanswered: 0, connections: 0 };

async function bound(port: number): Promise<SmppLink | null> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  try {
    await once(socket, 'connect');
    const handlers = { onMessage: () => ({ status: STATUS.ESME_ROK }) };
    const link = meteredLink(socket, { role: 'esme', interfaceVersion: 0x34 }, WINDOW, handlers, TIMERS);
    await link.bind({ bindType: 'transceiver', systemId: 'bench', password: 'bench' });
    counts.connections += 1;
    return link;
  } catch {
    socket.destroy();
    return null;
  }
}

/** Sends one request after another over the current link. */
async function sendRepeatedly(link: () => SmppLink | null, untilMs: number): Promise<void> {
  const pdu = submitSm({ shortMessage: Buffer.from('042137 is your Acme code. Do not share it.') });
  while (performance.now() < untilMs) {
    const present = link();
    if (present === null) {
      await delay(PAUSE_MS);
      continue;
    }
    try {
      const { status } = await present.request(pdu);
      if (status === STATUS.ESME_ROK) counts.answered += 1;
      else counts.throttled += 1;
    } catch (error) {
      if (!(error instanceof NotSentError)) counts.unanswered += 1;
      await delay(PAUSE_MS);
    }
  }
}

async function run({ port, seconds }: SoakTask): Promise<SoakFigure> {
  const untilMs = performance.now() + seconds * 1_000;
  let link: SmppLink | null = null;
  const ending = setTimeout(() => link?.destroy('the run is over'), seconds * 1_000);
  const connecting = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      link = await bound(port);
      await (link === null ? delay(PAUSE_MS) : link.closed);
      link = null;
    }
    clearTimeout(ending);
  };
  const samples: number[] = [];
  const sampling = setInterval(
    () => samples.push(process.memoryUsage.rss() / OCTETS_PER_MIB),
    (seconds * 1_000) / SAMPLES,
  );
  await Promise.all([connecting(), ...Array.from({ length: UNDER_WAY }, () => sendRepeatedly(() => link, untilMs))]);
  clearInterval(sampling);
  const quarter = (which: number): readonly number[] =>
    samples.slice((samples.length * which) / 4, (samples.length * (which + 1)) / 4);
  const rounded = (mib: number): number => Math.round(mib * 10) / 10;
  return { ...counts, earlyMiB: rounded(median(quarter(1))), lateMiB: rounded(median(quarter(3))) };
}

process.once('message', (task: SoakTask) => {
  void run(task).then((figure) => process.send?.(figure, () => process.exit(0)));
});
