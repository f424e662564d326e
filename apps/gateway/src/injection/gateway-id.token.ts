/** Injection token of this process's id as a gateway: new at every start, the same in all that it writes. */
export const GATEWAY_ID = Symbol('gateway id');
