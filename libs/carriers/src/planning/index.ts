export {
  EXPIRED,
  judgeRoute,
  mtPlan,
  type LinkCapacity,
  type PlanFacts,
  type RouteTarget,
  type RouteVerdict,
} from './mt-plan.js';
