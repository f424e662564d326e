/** The commit of the previous release: an upgrade from it is tried by `test/faults/upgrade.spec.ts`. */
export const PREVIOUS_RELEASE = 'a0d5f96b6e4983e771bb8e318a904d72df4be36f';
