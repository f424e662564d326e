import { sealBindPassword, type Bind } from '@countersign/carriers/config';
import { ServerKeys } from '@countersign/keys';
import { elapsedMs } from '@countersign/schedule';
import { NotSentError, type MessageAnswer } from '@countersign/smpp/link';
import { submitSm } from '@countersign/smpp/pdu';
import { Metrics } from '@countersign/telemetry';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BindDialer } from '../../apps/gateway/src/binds/bind-dialer.js';
import { BindSupervisor } from '../../apps/gateway/src/binds/bind-supervisor.js';
import { ConnectionGauge } from '../../apps/gateway/src/binds/connection-gauge.js';
import { LeaseGuard } from '../../apps/gateway/src/leases/lease-guard.js';
import { LinkMetrics } from '../../apps/gateway/src/links/link.metrics.js';
import { sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';
import { WitnessCarrier } from '../support/witness-carrier.js';

const ID = '018bcfe5-6800-7000-8000-000000000001';
const OWNER = '018bcfe5-6800-7000-8000-000000000002';
const WITHIN_MS = 5_000;
const OK: MessageAnswer = { status: 0 };

let carrier: WitnessCarrier;
let supervisor: BindSupervisor;
let row: Bind;
/** Resolvers of the messages being stored. */
let storing: ((answer: MessageAnswer) => void)[] = [];

beforeEach(async () => {
  storing = [];
  carrier = new WitnessCarrier();
  const keys = ServerKeys.fromMaster(Buffer.alloc(32, 5));
  const guard = new LeaseGuard({ bindId: ID, slot: 0, owner: OWNER, epoch: '1' }, performance.now());
  const meter = new LinkMetrics(new Metrics({ app: 'test', processMetrics: false })).createMeter('bind', 'north');
  row = bindTo(await carrier.listen(), keys);
  supervisor = new BindSupervisor(
    guard,
    row,
    new BindDialer(keys, { tap: () => () => undefined }),
    { pauseMs: () => 0, acceptMessage: () => new Promise((resolve) => storing.push(resolve)) },
    new ConnectionGauge({ nowMs: () => Date.now() }, meter, { events: [], gatewayId: OWNER }),
  );
  supervisor.start({ onState: () => undefined, onUnanswered: () => undefined });
  await until('the bind is bound', WITHIN_MS, () => supervisor.state === 'bound');
});
afterEach(async () => {
  await supervisor.stop(0);
  await carrier.close();
});

function bindTo(port: number, keys: ServerKeys): Bind {
  return {
    id: ID,
    name: 'north',
    carrier: 'north',
    hosts: [{ host: '127.0.0.1', port }],
    tls: { enabled: false },
    systemId: 'us',
    passwordSealed: sealBindPassword(keys, ID, 'secret08'),
    clientKeySealed: null,
    outbind: null,
    outbindPasswordSealed: null,
    systemType: '',
    bindType: 'transceiver',
    interfaceVersion: '3.4',
    addressRange: '',
    defaultAlphabet: 'gsm',
    retryableMoStatus: 0x14,
    submitOptions: {},
    trustedForMo: true,
    senderFormat: 'auto',
    senderLearning: null,
    enabled: true,
    sendWindow: 10,
    connections: 1,
    submitPerSecond: 100,
    messageIdBase: 'as-is',
    temporaryStatuses: [],
    generation: 0,
    fullTraceUntil: null,
    enquireLinkSeconds: 30,
    responseTimeoutSeconds: 5,
  };
}

async function deliverUntilStored(): Promise<{ answered: Promise<boolean>; stored: (answer: MessageAnswer) => void }> {
  const answered = carrier.deliver(sms('hello'));
  await until('the message is being stored', WITHIN_MS, () => storing.length === 1);
  const [stored] = storing;
  if (stored === undefined) throw new Error('no message arrived');
  return { answered, stored };
}

it('a message stored while the lease is held is answered', async () => {
  const { answered, stored } = await deliverUntilStored();
  stored(OK);
  expect(await answered).toBe(true);
});

it('a confidential message is sent while the bind is trusted for MO, and by its present row', async () => {
  const pdu = submitSm({
    sourceAddress: { ton: 3, npi: 0, value: '60606' },
    destinationAddress: { ton: 1, npi: 1, value: '14155552671' },
    shortMessage: Buffer.from('a code'),
  });
  const send = (): Promise<unknown> | undefined =>
    supervisor.sender?.submit({ ...pdu, isConfidential: true }, elapsedMs() + WITHIN_MS);
  await send();
  expect(carrier.codes).toEqual(['a code']);
  await supervisor.applyRow({ ...row, trustedForMo: false }, 0);
  await expect(send()).rejects.toThrow(NotSentError);
  await supervisor.sender?.submit(pdu, elapsedMs() + WITHIN_MS);
  expect(carrier.codes).toEqual(['a code', 'a code']);
});

it('a message stored before and not answered until the loss of the lease is not answered', async () => {
  const { answered, stored } = await deliverUntilStored();
  supervisor.guard.invalidate();
  stored(OK);
  expect(await answered).toBe(false);
  await until('the link is closed', WITHIN_MS, () => carrier.bound.length === 0);
  expect(carrier.links).toMatchObject([{ lastActMs: null, unboundMs: null }]);
});
