type Moment = string | number;
export function clockOf(at: Moment, locale?: string): string;
export function dayOf(at: Moment, now: Moment, locale?: string): string;
export function ageOf(at: Moment, now: Moment, locale?: string): string;
