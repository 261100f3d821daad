"""How far what fernn says about belief may itself be believed."""
