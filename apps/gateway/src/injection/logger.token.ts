/** Injection token of the process's logger, which is an interface and no class. */
export const LOGGER = Symbol('logger');
