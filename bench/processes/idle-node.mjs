// The baseline: an idle Node.js. The probe keeps it alive.
