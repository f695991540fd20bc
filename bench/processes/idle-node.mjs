// The floor: Node.js, waiting. The probe keeps it alive.
