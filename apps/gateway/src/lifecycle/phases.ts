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
export type StartPhase = (typeof START_PHASES)[number];

/**
 * Steps of the stop, in this order, each with its time limit. The phases of a step follow one another; the components of a
 * phase stop concurrently.
 *
 * Claiming of codes and RCS cards stops first. Then received MOs are answered, windows are finished and links are unbound
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
  { name: 'close the job notifier and the bus', deadlineMs: STEP_MS, phases: ['close the bus', 'close queues'] },
  { name: 'close the database', deadlineMs: STEP_MS, phases: ['close the database'] },
  { name: 'close operations', deadlineMs: STEP_MS, phases: ['close operations'] },
] as const;
export type StopPhase = (typeof STOP_STEPS)[number]['phases'][number];

type Run = () => void | Promise<void>;

interface PhaseMethod<Phase> {
  readonly phase: Phase;
  readonly run: Run;
}

/** Methods by the prototype of their class, in the order of the class. */
type PhaseMethods<Phase> = Map<object, PhaseMethod<Phase>[]>;

const startMethods: PhaseMethods<StartPhase> = new Map();
const stopMethods: PhaseMethods<StopPhase> = new Map();

type PhaseDecorator = (prototype: object, name: string, method: { readonly value?: Run }) => void;

/** The method runs in this phase of the start. */
export const OnStart = (phase: StartPhase): PhaseDecorator => addTo(startMethods, phase);

/** The method runs in this phase of the stop. */
export const OnStop = (phase: StopPhase): PhaseDecorator => addTo(stopMethods, phase);

export const startMethodsOf = (component: object): readonly PhaseMethod<StartPhase>[] => of(startMethods, component);
export const stopMethodsOf = (component: object): readonly PhaseMethod<StopPhase>[] => of(stopMethods, component);

function addTo<Phase>(methods: PhaseMethods<Phase>, phase: Phase): PhaseDecorator {
  return (prototype, _name, { value: run }) => {
    if (run === undefined) return;
    methods.set(prototype, [...(methods.get(prototype) ?? []), { phase, run }]);
  };
}

const of = <Phase>(methods: PhaseMethods<Phase>, component: object): readonly PhaseMethod<Phase>[] =>
  methods.get(Object.getPrototypeOf(component) as object) ?? [];
