export { Lifecycle } from './lifecycle.js';
export { phaseDecorators, type StopStep } from './phases.js';
export { prepareStart } from './prepare-start.js';
export { provide, provideClass } from './provide.js';
