import { phaseDecorators, type StopStep } from '@countersign/composition';

/** Time limit for answering received messages and unbinding. */
export const DRAIN_MS = 10_000;
/** Time limit of a step that waits for no peer. */
const STEP_MS = 3_000;
/** Added to the drain limit, so that sockets can still close after it. */
const SLACK_MS = 3_000;

/**
 * Phases of the start, in this order. Tables and the gateway's row come first: no message can be stored without partitions,
 * and other gateways count this one. Ports are open before binds, and codes and cards are sent last.
 */
export const START_PHASES = [
  'check the database role',
  'create partitions',
  'write the gateway row',
  'open the SMPP ports',
  'open the HTTP port',
  'open the operations port',
  'open binds',
  'start sending',
] as const;
type StartPhase = (typeof START_PHASES)[number];

/**
 * Steps of the stop, in this order, each with its time limit. The phases of a step follow one another; the components of a
 * phase stop concurrently.
 *
 * First nothing new is accepted, then no code or card is claimed. Then received MOs are answered, windows are finished and links are unbound
 * while the database is open and the leases are held, so that answers and outcomes are recorded. The lease of each bind
 * connection is released as soon as the connection has ended, so that another gateway can claim it.
 */
export const STOP_STEPS = [
  { name: 'stop accepting', deadlineMs: STEP_MS, phases: ['stop accepting'] },
  { name: 'stop sending', deadlineMs: STEP_MS, phases: ['stop sending'] },
  { name: 'stop reconnecting', deadlineMs: STEP_MS, phases: ['stop reconnecting'] },
  { name: 'answer received messages, unbind', deadlineMs: DRAIN_MS + SLACK_MS, phases: ['unbind'] },
  { name: 'drain the batchers', deadlineMs: STEP_MS, phases: ['drain batchers', 'finish events'] },
  { name: 'remove the gateway row', deadlineMs: STEP_MS, phases: ['remove the gateway row'] },
  { name: 'stop maintenance', deadlineMs: STEP_MS, phases: ['stop maintenance'] },
  { name: 'close the job notifier and the bus', deadlineMs: STEP_MS, phases: ['close the bus', 'close the modules'] },
  { name: 'close the database', deadlineMs: STEP_MS, phases: ['close the database'] },
  { name: 'close operations', deadlineMs: STEP_MS, phases: ['close operations'] },
] as const satisfies readonly StopStep[];
type StopPhase = (typeof STOP_STEPS)[number]['phases'][number];

export const { OnStart, OnStop } = phaseDecorators<StartPhase, StopPhase>();
