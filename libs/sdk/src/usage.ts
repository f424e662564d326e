import { isCount, isObject, isText } from './fields.js';

export interface UsageFigures {
  readonly verifications: {
    /** Every session, pending and cancelled ones too. */
    readonly total: number;
    readonly approved: number;
    readonly expired: number;
    readonly denied: number;
  };
  readonly channels: { readonly rcs: number; readonly sms_fallback: number };
  /** An exact decimal: keep it as text, or give it to a decimal library. */
  readonly estimatedCostUsd: string;
}

/** One line of a breakdown: it has the one of `day`, `country` and `brandId` that was asked for. */
export interface UsageGroup extends UsageFigures {
  readonly day?: string;
  readonly country?: string;
  readonly brandId?: string;
}

/** The usage report (specification 2.2). */
export interface UsageReport extends UsageFigures {
  /** From `from` up to, but not, `to`. */
  readonly period: { readonly from: string; readonly to: string };
  /** With `groupBy` alone. */
  readonly breakdown?: readonly UsageGroup[];
}

export interface UsageQuery {
  /** RFC 3339; the first of the month, 00:00 UTC, when left out. */
  readonly from?: string | Date;
  /** RFC 3339; now, when left out. */
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
