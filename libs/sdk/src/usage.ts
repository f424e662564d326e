import { isCount, isObject, isText } from './fields.js';

export interface UsageFigures {
  readonly verifications: {
    /** Every session, including pending and cancelled ones. */
    readonly total: number;
    readonly approved: number;
    readonly expired: number;
    readonly denied: number;
  };
  readonly channels: { readonly rcs: number; readonly sms_fallback: number };
  /** An exact decimal: keep it as text, or use a decimal library. */
  readonly estimatedCostUsd: string;
}

/** One group of a breakdown: it has the requested one of `day`, `country` and `brandId`. */
export interface UsageGroup extends UsageFigures {
  readonly day?: string;
  readonly country?: string;
  readonly brandId?: string;
}

/** The usage report (specification 2.2). */
export interface UsageReport extends UsageFigures {
  /** From `from` (inclusive) to `to` (exclusive). */
  readonly period: { readonly from: string; readonly to: string };
  /** Only with `groupBy`. */
  readonly breakdown?: readonly UsageGroup[];
}

export interface UsageQuery {
  /** RFC 3339; default the first of the month, 00:00 UTC. */
  readonly from?: string | Date;
  /** RFC 3339; default now. */
  readonly to?: string | Date;
  readonly groupBy?: 'day' | 'country' | 'brand';
}

export function isUsageReport(value: unknown): value is UsageReport {
  if (!isObject(value) || !hasFigures(value)) return false;
  const { period, breakdown } = value;
  return (
    isObject(period) &&
    isText(period['from']) &&
    isText(period['to']) &&
    (breakdown === undefined ||
      (Array.isArray(breakdown) && breakdown.every((group) => isObject(group) && hasFigures(group))))
  );
}

function hasFigures(value: Readonly<Record<string, unknown>>): boolean {
  const { verifications, channels, estimatedCostUsd } = value;
  return (
    isObject(verifications) &&
    ['total', 'approved', 'expired', 'denied'].every((name) => isCount(verifications[name])) &&
    isObject(channels) &&
    ['rcs', 'sms_fallback'].every((name) => isCount(channels[name])) &&
    isText(estimatedCostUsd)
  );
}
