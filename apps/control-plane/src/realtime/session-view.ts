/**
 * How much a subscriber sees. `full`: every event, and of a session all that GET gives. `reduced_key`: every event, and
 * of a session what a browser may know. `reduced`: that, and only events that show a session.
 */
export type SessionView = 'full' | 'reduced_key' | 'reduced';

/** The rendering of a session that a view shows. */
export const renderingOf = (view: SessionView): 'full' | 'reduced' => (view === 'full' ? 'full' : 'reduced');
