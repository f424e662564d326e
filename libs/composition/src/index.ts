export { Lifecycle } from './lifecycle.js';
export { phaseDecorators, type StopStep } from './phases.js';
export { provide } from './provide.js';
