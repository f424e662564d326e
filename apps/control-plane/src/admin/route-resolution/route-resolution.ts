import { renderUsd } from '@countersign/accounts/prices';
import type { DueMessage, MtPlan } from '@countersign/carriers/outbound';
import { judgeRoute, mtPlan, type PlanFacts, type RouteVerdict } from '@countersign/carriers/planning';
import { routesInOrder, type CandidateRoute, type Route } from '@countersign/carriers/routes';
import { effectiveOptions } from '@countersign/carriers/submit-options';
import { renderId, type Uuid } from '@countersign/ids';
import type { GuardPreview } from '../../guard/guard-preview.service.js';
import type { Plain } from '../crud/plain.js';
import { destinationView } from '../destinations/destination.view.js';
import type { LinkHealth } from './link-health.js';
import type { ChosenRoute, RouteCandidate, RouteResolution } from './route-resolution.view.js';

/** Time that a code is assumed to have left, as that of a new session. */
const LEFT_MS = 90_000;

/** The facts that decide the way of a code, as read at one moment. */
export interface ResolutionFacts {
  /** E.164. */
  readonly phone: string;
  readonly country: string;
  readonly now: Date;
  readonly accountId: Uuid | null;
  /** The sender for routes without one; null without a brand. */
  readonly sender: string | null;
  readonly guard: GuardPreview;
  readonly queuePaused: boolean;
  /** The most specific first. */
  readonly candidates: readonly CandidateRoute[];
  /** By id of the bind or system. */
  readonly links: ReadonlyMap<Uuid, LinkHealth>;
  /** Millionths of a US dollar. */
  readonly price: bigint | null;
}

const linkIdOf = ({ bindId, systemId }: Pick<Route, 'bindId' | 'systemId'>): Uuid => bindId ?? systemId ?? '';

/** Resolves by the functions that gateways plan with: the order of the routes, the verdict on each, the plan. */
export function resolveRoute(facts: ResolutionFacts): Plain<RouteResolution> {
  const { phone, candidates, links, guard, queuePaused, country, accountId } = facts;
  const usable = candidates.filter((route) => route.usable);
  // The heaviest of equal routes is drawn, since the candidates are in that order.
  const routes = routesInOrder(usable, phone, () => 0);
  const planFacts: PlanFacts = {
    routes,
    capacityOf: (target) => links.get(linkIdOf(target))?.capacity ?? null,
    boundElsewhere: () => false,
    deferred: 0,
    random: 0,
  };
  const message = messageOf(facts);
  const plan = mtPlan(message, planFacts);
  const verdicts = new Map(routes.map((route) => [route.id, judgeRoute(route, message, planFacts)]));
  const chosenId = plan.kind === 'send' ? plan.routeId : null;
  const order = [...routes, ...candidates.filter((route) => !route.usable)];
  const refusal = guard.refusal;
  return {
    ...decisionOf(facts, plan, routes),
    country,
    queuePaused,
    guard: {
      accountId: accountId === null ? null : renderId('acct', accountId),
      refusedBy: refusal?.rule ?? null,
      until: refusal?.kind === 'capped' ? refusal.until.toISOString() : null,
      rules: guard.rules.map(destinationView),
    },
    candidates: candidates.toSorted(byOrderOf(order)).map((route) => {
      return candidateView(route, links.get(linkIdOf(route)), verdicts.get(route.id), route.id === chosenId);
    }),
    chosen: chosenOf(facts, plan),
  };
}

const byOrderOf =
  (order: readonly Pick<Route, 'id'>[]) =>
  (one: Pick<Route, 'id'>, other: Pick<Route, 'id'>): number =>
    order.findIndex(({ id }) => id === one.id) - order.findIndex(({ id }) => id === other.id);

/** A new code to the phone: no route has answered yet. */
const messageOf = ({ phone, now, sender }: ResolutionFacts): DueMessage => ({
  id: '',
  sessionId: '',
  accountId: '',
  destination: phone,
  sender: sender ?? '',
  textSealed: Buffer.alloc(0),
  expiresAt: new Date(now.getTime() + LEFT_MS),
  attempts: 0,
  unknownFates: 0,
  refusedRoutes: [],
  busyRoutes: [],
  networkError: null,
  now,
  brand: '',
  sessionLive: true,
});

function decisionOf(
  { guard: { refusal }, queuePaused, links }: ResolutionFacts,
  plan: MtPlan,
  routes: readonly Route[],
): Pick<RouteResolution, 'decision' | 'reason'> {
  if (refusal !== null)
    return { decision: 'refused', reason: `The guard refuses a code now, by its rule ${refusal.rule}.` };
  if (routes.length === 0)
    return {
      decision: 'no_route',
      reason: 'No enabled route to an enabled bind or system has a prefix of the number.',
    };
  if (queuePaused)
    return { decision: 'wait', reason: 'The queue of codes is paused: a code waits until it is resumed.' };
  const chosen = plan.kind === 'send' ? routes.find(({ id }) => id === plan.routeId) : undefined;
  if (chosen === undefined)
    return { decision: 'wait', reason: 'No bind or system of a route can send now: a code waits until one can.' };
  return { decision: 'send', reason: `A code goes over ${links.get(linkIdOf(chosen))?.name ?? 'the chosen route'}.` };
}

const SKIPPED: Readonly<Record<Exclude<RouteVerdict['kind'], 'usable'>, string>> = {
  busy: 'It answered busy.',
  unbound: 'No connection can send.',
  elsewhere: 'No connection can send.',
  full: 'The windows of all its connections are used.',
};

function candidateView(
  route: CandidateRoute,
  link: LinkHealth | undefined,
  verdict: RouteVerdict | undefined,
  isChosen: boolean,
): Plain<RouteCandidate> {
  const reason = isChosen ? null : skippedBecause(route, verdict);
  return {
    routeId: renderId('route', route.id),
    prefix: route.prefix,
    priority: route.priority,
    weight: route.weight,
    linkId: link?.id ?? renderId(route.bindId === null ? 'sys' : 'bind', linkIdOf(route)),
    linkName: link?.name ?? '',
    carrier: link?.carrier ?? '',
    linkState: link?.state ?? 'unbound',
    connectionsBound: link?.connectionsBound ?? 0,
    verdict: isChosen ? 'chosen' : reason === null ? 'next' : 'skipped',
    reason,
  };
}

function skippedBecause(route: CandidateRoute, verdict: RouteVerdict | undefined): string | null {
  if (!route.enabled) return 'The route is disabled.';
  if (!route.targetEnabled) return 'Its bind or system is disabled.';
  if (!route.carriesCodes) return 'Its bind or system may not carry codes: see bindType or bindTypes.';
  return verdict === undefined || verdict.kind === 'usable' ? null : SKIPPED[verdict.kind];
}

/** Null while nothing would be sent; the guard's refusal does not matter here. */
function chosenOf({ candidates, links, price }: ResolutionFacts, plan: MtPlan): Plain<ChosenRoute> | null {
  if (plan.kind !== 'send') return null;
  const route = candidates.find(({ id }) => id === plan.routeId);
  const link = route === undefined ? undefined : links.get(linkIdOf(route));
  if (route === undefined || link === undefined) return null;
  return {
    routeId: renderId('route', route.id),
    linkId: link.id,
    sourceAddress: plan.source === '' ? null : plan.source,
    submitOptions: effectiveOptions(link.submitOptions, plan.submitOptions) ?? {},
    costUsd: renderUsd(route.costUsd),
    priceUsd: price === null ? null : usdOf(price),
  };
}

/** Millionths of a US dollar as the text of an amount. */
export function usdOf(micros: bigint): string {
  const digits = micros.toString().padStart(7, '0');
  return renderUsd(`${digits.slice(0, -6)}.${digits.slice(-6)}`);
}
