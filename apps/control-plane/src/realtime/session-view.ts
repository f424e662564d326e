/**
 * The part of the events that a subscriber receives. `full`: every event, and sessions as GET returns them.
 * `reduced_key`: every event, and sessions with the fields that a ticket shows. `reduced`: sessions with these fields,
 * and only events that contain a session.
 */
export type SessionView = 'full' | 'reduced_key' | 'reduced';

/** The rendering of a session for a view. */
export const renderingOf = (view: SessionView): 'full' | 'reduced' => (view === 'full' ? 'full' : 'reduced');
